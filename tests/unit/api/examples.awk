# Examples as C, each the body of a function, and a table of them all: in headers every run of comment
# lines that are indented by five blanks, in documents every block that begins with ```c.
function begin()
{
    inside = 1
    name = "example_" ++count
    lines[count] = FNR + (document ? 1 : 0)
    files[count] = FILENAME
    print "static enum mase_status " name "(struct example *e)\n{"
    print "    struct mase_session *s = e->s;\n    struct mase_net *net = e->net;"
    print "    const struct mase_node *node = e->node;\n    struct mase_rows *rows = e->rows;"
    print "    struct mase_runner *runner = e->runner;\n    struct mase_text *text = &e->text;"
    print "    struct mase_err *err = &e->err;"
    print "    (void)s, (void)net, (void)node, (void)rows, (void)runner, (void)text, (void)err;"
    print "    {\n#line " lines[count] " \"" FILENAME "\""
}
function end()
{
    inside = 0
    print "    }\n    return MASE_OK;\n}\n"
}
FNR == 1 { document = FILENAME ~ /\.md$/ }
document && /^```c$/ { begin(); next }
document && inside && /^```$/ { end(); next }
document && inside { print; next }
!document && /^ \*     / {
    if (!inside)
        begin()
    print substr($0, 3)
    next
}
!document && inside { end() }
END {
    print "static const struct {\n    const char *file;\n    int line;"
    print "    enum mase_status (*run)(struct example *e);\n} examples[] = {"
    for (i = 1; i <= count; i++)
        print "    { \"" files[i] "\", " lines[i] ", example_" i " },"
    print "};"
}
