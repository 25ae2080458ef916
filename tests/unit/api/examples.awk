# The examples of mase.h as C: every run of comment lines that are indented by five blanks is the body
# of a function, and a table has them all. What stands at the head of the file is one, too.
/^[ \/]\* {5}/ || /^ \*     / {
    line = $0
    sub(/^ \*/, "", line)
    if (!inside) {
        inside = 1
        print "static enum mase_status example_" FNR "(struct example *e)\n{"
        print "    struct mase_session *s = e->s;\n    struct mase_net *net = e->net;"
        print "    const struct mase_node *node = e->node;\n    struct mase_rows *rows = e->rows;"
        print "    struct mase_runner *runner = e->runner;\n    struct mase_text *text = &e->text;"
        print "    struct mase_err *err = &e->err;"
        print "    (void)s, (void)net, (void)node, (void)rows, (void)runner, (void)text, (void)err;"
        print "    {\n#line " FNR " \"" FILENAME "\""
        names[++count] = FNR
    }
    print line
    next
}
inside { print "    }\n    return MASE_OK;\n}\n"; inside = 0 }
END {
    print "static const struct {\n    int line;\n    enum mase_status (*run)(struct example *e);\n} examples[] = {"
    for (i = 1; i <= count; i++)
        print "    { " names[i] ", example_" names[i] " },"
    print "};"
}
