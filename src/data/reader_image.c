/*
 * reader_image.c - the linked program reader_main.c, embedded by the assembler. MASE_READER_FILE is
 * the path of the program in the build.
 */
#include "data/reader_image.h"

__asm__(".pushsection .rodata\n"
        ".balign 64\n"
        ".global mase_reader_image\n"
        ".hidden mase_reader_image\n"
        "mase_reader_image:\n"
        ".incbin \"" MASE_READER_FILE "\"\n"
        ".global mase_reader_image_end\n"
        ".hidden mase_reader_image_end\n"
        "mase_reader_image_end:\n"
        ".byte 0\n"
        ".popsection\n");
