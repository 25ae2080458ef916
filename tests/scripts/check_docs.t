# scripts/check_docs runs what documents show and compares it.
mkdir -p tree/scripts tree/configs tree/docs
cp "$SOURCE/scripts/check_docs" tree/scripts/
printf '#!/bin/sh\nexit 0\n' >tree/scripts/gen_docs
cat >tree/ch <<'END'
#!/bin/sh
case $1 in
count) seq 1 9; echo "in 0.25 s on 2024-05-06" ;;
fail) echo "no luck" >&2; exit 3 ;;
esac
END
chmod +x tree/scripts/gen_docs tree/ch
CH=tree/scripts/check_docs

# doc COMMAND SHOWN: a document with one command and its output
doc()
{
    printf '# A page\n\n```sh\n%s\n```\n\n```text\n%b```\n\nand more\n' "$1" "$2" >tree/README.md
}

doc './ch count' '1\n2\n3\n4\n5\n6\n7\n8\n9\nin 17 s on 2026-01-01\n'
run README.md
succeeds "the same but for times and dates"
doc 'echo "| run | seconds |"; echo "|  1  |   2.5   |"; echo "at 123 steps/s, avx2 with 2 threads"' \
    '| run | seconds |\n|  1  |  10.1   |\nat 77 steps/s, scalar with 1 thread\n'
run README.md
succeeds "and speeds"
doc 'echo "| run | seconds |"; echo "|  1  |   2.5   |"' '| run | seconds |\n|  2  |   2.5   |\n'
run README.md
out_has "but not what stands beside them" '^README.md:7: the output is not what the document shows'
doc './ch count' '1\n...\n4\n5\n...\nin 1 s on 2026-01-01\n'
run README.md
succeeds "dots stand for lines"
doc './ch count' '1\n...\n5\n4\n...\n'
run README.md
out_has "lines in another order" '^README.md:7: the output is not what the document shows'
holds "are a failure" test "$status" -eq 1
doc './ch count' '1\n2\n'
run README.md
out_has "lines missing at the end" '^README.md:7: the output'
doc './ch count | tail -n +9' '...\n8\n9\n'
run README.md
out_has "lines that are not printed" '^README.md:7: the output'

doc 'seq 1 2' '1\n3\n'
run --write README.md
succeeds "writing"
doc 'seq 1 2' '1\n2\n'
cp tree/README.md expected
doc 'seq 1 2' '1\n3\n'
run --write README.md
holds "puts the real output in place" cmp expected tree/README.md

doc 'printf "a 1\\nb 2\\nc 3\\nd 4\\n"' 'a 7\n...\nc 8\n...\n'
run --write README.md
doc 'printf "a 1\\nb 2\\nc 3\\nd 4\\n"' 'a 1\n...\nc 3\n...\n'
cp tree/README.md expected
doc 'printf "a 1\\nb 2\\nc 3\\nd 4\\n"' 'a 7\n...\nc 8\n...\n'
run --write README.md
holds "and leaves out what was left out" cmp expected tree/README.md

# renewed COMMAND SHOWN EXPECTED: what --write makes of a block
renewed()
{
    doc "$1" "$3"
    cp tree/README.md expected
    doc "$1" "$2"
    run --write README.md
}
renewed 'printf "a 1\\nb\\nnew\\nc 3\\nd\\ne\\n"' 'a 7\n...\nc 8\nwas\nd\n...\n' 'a 1\n...\nc 3\nd\n...\n'
holds "also beside lines that have gone" cmp expected tree/README.md
renewed 'printf "a\\nb\\nc\\nmore\\nd\\ne\\nf\\n"' 'a\n...\nc\nd\ne\n' 'a\n...\nc\nmore\nd\ne\nf\n'
holds "and lines that are new" cmp expected tree/README.md
renewed 'echo 1; pwd | fold -w 9' '2\n...\n' '1\n...\n'
holds "no temporary folder is written" cmp expected tree/README.md
renewed 'echo 1; pwd | sed "s|/|: |g"' '2\n' '2\n'
out_has "unless asked for, which is refused" '^README.md:7: the output names a temporary folder'
holds "and nothing written" cmp expected tree/README.md

doc './ch fail' ''
run README.md
out_has "a command that fails" '^README.md:3: failed with status 3'
out_has "shows what it said" '^no luck$'
doc 'true | ./ch fail | true' ''
run README.md
out_has "in a pipe too" '^README.md:3: failed with status 3'

printf '```sh skip\nfalse\n```\n\n```sh\ntrue\n' >tree/README.md
run README.md
out_lacks "a block marked skip is not run" 'failed'
out_has "a block that is not closed" '^README.md:6: a block is not closed'

printf 'test: all\n' >tree/Makefile
printf '```sh skip\nmake test\nmake tea\n```\n' >tree/README.md
run README.md
out_has "but it names no target that make lacks" "^README.md:3: make has no target 'tea'"
out_lacks "and those that it has pass" 'test'

# Blocks of python: one process for a document, and none where there is no NumPy.
if command -v python3 >/dev/null; then
    mkdir -p tree/python tree/bin
    : >tree/python/numpy.py
    pages()
    {
        printf '# A page\n\n```python\nx = 6\n```\n\n```python\n%s\n```\n\n```text\n%b```\n' "$1" "$2" >tree/README.md
    }
    pages 'print(x * 7)' '42\n'
    run README.md
    succeeds "a block of python goes on where the one before it ended"
    out_has "and counts" '^check_docs: 2 blocks run as shown'
    pages 'print(x * 7)' '43\n'
    run README.md
    out_has "its output is compared" '^README.md:11: the output is not what the document shows'
    pages 'print(y)' ''
    run README.md
    out_has "an exception is a failure" '^README.md:7: python failed'
    out_has "which is shown" "name 'y' is not defined"
    printf '#!/bin/sh\nexit 1\n' >tree/bin/none
    chmod +x tree/bin/none
    export MASE_PYTHON=$PWD/tree/bin/none
    run README.md
    succeeds "without NumPy nothing is run"
    out_has "and it is said" '^README.md: its python blocks were not run: there is no NumPy'
    unset MASE_PYTHON
fi
