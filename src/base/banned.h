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
char *strncpy(char *restrict, const char *restrict, __SIZE_TYPE__) MASE_BANNED("snprintf");
char *strncat(char *restrict, const char *restrict, __SIZE_TYPE__) MASE_BANNED("mase_str");
int sprintf(char *restrict, const char *restrict, ...) MASE_BANNED("snprintf or mase_str_printf");
int vsprintf(char *restrict, const char *restrict, __builtin_va_list) MASE_BANNED("vsnprintf");
char *gets(char *) MASE_BANNED("fgets");
char *strtok(char *restrict, const char *restrict) MASE_BANNED("strcspn and strspn");

#undef MASE_BANNED

#endif /* MASE_BASE_BANNED_H */
