/*
 * reader_image.h - the reader program (reader.h), embedded.
 */
#ifndef MASE_DATA_READER_IMAGE_H
#define MASE_DATA_READER_IMAGE_H

extern const unsigned char mase_reader_image[], mase_reader_image_end[]; /* where it ends */

#endif /* MASE_DATA_READER_IMAGE_H */
