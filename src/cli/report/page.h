/*
 * page.h - page.css and page.js, embedded in the program (cmake/embed.cmake).
 */
#ifndef MASE_CLI_REPORT_PAGE_H
#define MASE_CLI_REPORT_PAGE_H

extern const char mase_report_css[], mase_report_js[]; /* each ends with a NUL */

#endif /* MASE_CLI_REPORT_PAGE_H */
