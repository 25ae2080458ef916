/*
 * banned.h - functions that cannot be used safely become compile errors.
 *
 * Given to the compiler with -include. It declares the functions itself, marked as deprecated,
 * which -Werror turns into an error at every use; it includes nothing, because a system header read
 * here would fix the feature macros before a source file can ask for more.
 */
#ifndef MASE_BASE_BANNED_H
#define MASE_BASE_BANNED_H

#define MASE_BANNED(instead) __attribute__((deprecated("banned: use " instead)))

char *strcpy(char *restrict, const char *restrict) MASE_BANNED("mase_str or memcpy");
char *strcat(char *restrict, const char *restrict) MASE_BANNED("mase_str");
char *strncpy(char *restrict, const char *restrict, __SIZE_TYPE__) MASE_BANNED("mase_snprintf");
char *strncat(char *restrict, const char *restrict, __SIZE_TYPE__) MASE_BANNED("mase_str");
int sprintf(char *restrict, const char *restrict, ...)
    MASE_BANNED("mase_snprintf or mase_str_printf");
int vsprintf(char *restrict, const char *restrict, __builtin_va_list) MASE_BANNED("mase_vsnprintf");
char *gets(char *) MASE_BANNED("fgets");
char *strtok(char *restrict, const char *restrict) MASE_BANNED("strcspn and strspn");

/* What follows the host's locale; base/number.c may call it. scripts/lint finds the macros, too. */
#ifndef MASE_RAW_NUMBERS
double strtod(const char *restrict, char **restrict) MASE_BANNED("mase_number_read");
float strtof(const char *restrict, char **restrict) MASE_BANNED("mase_number_read_float");
double atof(const char *) MASE_BANNED("mase_number_read");
int snprintf(char *restrict, __SIZE_TYPE__, const char *restrict, ...) MASE_BANNED("mase_snprintf");
int vsnprintf(char *restrict, __SIZE_TYPE__, const char *restrict, __builtin_va_list)
    MASE_BANNED("mase_vsnprintf");
int printf(const char *restrict, ...) MASE_BANNED("mase_fprintf");
int sscanf(const char *restrict, const char *restrict, ...) MASE_BANNED("mase_number_read");
int strcasecmp(const char *, const char *) MASE_BANNED("mase_strcaseeq");
int strncasecmp(const char *, const char *, __SIZE_TYPE__) MASE_BANNED("mase_strncaseeq");
char *strerror(int) MASE_BANNED("mase_strerror");
#endif

/* Every block of the library goes through base/alloc.c, which may call these. */
#ifndef MASE_RAW_MEMORY
void *malloc(__SIZE_TYPE__) MASE_BANNED("mase_xcalloc or an arena");
void *calloc(__SIZE_TYPE__, __SIZE_TYPE__) MASE_BANNED("mase_xcalloc or an arena");
void *realloc(void *, __SIZE_TYPE__) MASE_BANNED("mase_xrealloc");
void *aligned_alloc(__SIZE_TYPE__, __SIZE_TYPE__) MASE_BANNED("mase_aligned_calloc");
int posix_memalign(void **, __SIZE_TYPE__, __SIZE_TYPE__) MASE_BANNED("mase_aligned_calloc");
void free(void *) MASE_BANNED("mase_xfree");
char *strdup(const char *) MASE_BANNED("mase_xstrdup or mase_arena_strdup");
char *strndup(const char *, __SIZE_TYPE__) MASE_BANNED("mase_arena_strndup");
char *realpath(const char *restrict, char *restrict) MASE_BANNED("mase_real_path");
#endif

#undef MASE_BANNED

#endif /* MASE_BASE_BANNED_H */
