/*
 * reader_image.c - the program reader_main.c, as it was linked, byte by byte.
 *
 * The assembler takes it from the file. MASE_READER_FILE is where the build has put it.
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
