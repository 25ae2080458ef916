"""browser.py - Chromium without a window, told what to do through a pipe.

    with Browser() as b:                      # None where there is no Chromium: Browser.find()
        b.open("file:///tmp/report.html", width=400, scheme="dark")
        b.evaluate("document.title")
        b.complaints                          # what the console said, and what the policy forbade

The DevTools protocol over file descriptors 3 and 4: messages of JSON with a NUL behind each. The
standard library is all it needs.
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


class Browser:
    TIMEOUT = 60

    @staticmethod
    def find():
        return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="mase-browser-")
        to_read, self.write_to = os.pipe()
        self.read_from, to_write = os.pipe()
        command = ["sh", "-c", f'exec "$@" 3<&{to_read} 4>&{to_write}', "sh", self.find(),
                   "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--no-first-run", "--hide-scrollbars", "--force-color-profile=srgb",
                   f"--user-data-dir={self.profile}", "--remote-debugging-pipe", "about:blank"]
        self.process = subprocess.Popen(command, pass_fds=(to_read, to_write),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session, self.complaints, self.events = b"", 0, None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write_to)
        os.close(self.read_from)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.read_from, 1 << 20)
            if not part:
                raise RuntimeError("the browser went away")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        self.events.append(method)
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(params["exceptionDetails"])[:400])
        elif method == "Log.entryAdded":
            self.complaints.append(params["entry"]["text"])
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(f"{params['type']}: {params['args']}")
        elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith("file:"):
            self.complaints.append("loads " + params["request"]["url"][:200])

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write_to, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + self.TIMEOUT
        while time.monotonic() < until:
            answer = self.receive()
            if answer.get("id") != self.number:
                self.note(answer)
            elif "error" in answer:
                raise RuntimeError(f"{method}: {answer['error']['message']}")
            else:
                return answer["result"]
        raise RuntimeError(f"{method}: no answer")

    def look(self, width=1280, height=900, scheme="light", media="screen", scale=1):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=scale, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", media=media,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, url, **look):
        self.look(**look)
        self.events.clear()
        self.call("Page.navigate", url=url)
        while "Page.loadEventFired" not in self.events:
            self.note(self.receive())

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"])[:600])
        return answer["result"].get("value")

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name,
                      **({"text": "\r", "windowsVirtualKeyCode": 13} if name == "Enter" else {}))

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def screenshot(self, path, whole=False):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        with open(path, "wb") as f:
            f.write(base64.b64decode(shot["data"]))
