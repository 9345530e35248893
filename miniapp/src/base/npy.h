/// \file
/// The file format of NumPy's arrays: version 1.0, C order, little endian.

#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/// Writes the header of an array; the caller appends the elements.
/// \param type a type string of NumPy, such as "<f4" or "<u4".
/// \param shape the extents, `dimensions` of them and at most 8.
/// \return false if it could not be written.
bool npy_header(FILE *file, const char *type, const size_t *shape, int dimensions);

/// Reads the header of an array; the elements follow.
/// \param shape receives the extents.
/// \return false unless the file holds an array of this type and number of dimensions in C order.
bool npy_read_header(FILE *file, const char *type, size_t *shape, int dimensions);
