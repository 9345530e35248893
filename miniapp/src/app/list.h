/// \file
/// Lists the variants to choose from: --list, as text or as JSON (miniapp/FORMAT.md).

#ifndef APP_LIST_H
#define APP_LIST_H

/// Prints every registered placement, schedule, wire format, exchange, neuron model and meter, a line each.
void list_print(void);

/// Prints the same as one JSON object, with what is known of each as data, and the files of a run.
void list_print_json(void);

#endif
