/// \file
/// A tree of small files that stands for /sys.

#ifndef TESTS_FAKE_SYSFS_H
#define TESTS_FAKE_SYSFS_H

/// Makes an empty tree under a new name, which anybody may read. The caller frees the name.
char *fake_root(void);

/// Writes a file of the tree, with the directories above it.
void fake_file(const char *root, const char *path, const char *text);

/// Removes a file of the tree, or, with path "", all of it.
void fake_remove(const char *root, const char *path);

/// Makes a zone of powercap: its name, energy_uj and max_energy_range_uj. A NULL leaves the file out.
void fake_zone(const char *root, const char *zone, const char *name, const char *energy_uj,
               const char *range_uj);

#endif
