/// \file
/// The table of neuron models, and reading their parameters.
///
/// To add a model: write a file like ignore_and_fire.c (the shortest), export its `const struct
/// neuron_model`, and name it here. --list, the run description and the estimate of memory know it then.

#include "neuron/model.h"

#include "base/registry.h"
#include "description/field_table.h"

extern const struct neuron_model neuron_ignore_and_fire, neuron_lif_delta, neuron_lif_exp, neuron_lif_sfa;

const struct neuron_model *const neuron_models[] = {&neuron_ignore_and_fire, &neuron_lif_delta,
                                                    &neuron_lif_exp, &neuron_lif_sfa, NULL};

bool neuron_model_read(const struct population *population, const struct neuron_model **model,
                       double parameters[neuron_parameters_max], struct error *error) {
    *model = neuron_model_find(population->model);
    if (!*model)
        return fields_refuse(&population->neuron, "model", registry_names(neuron_models).text, error);
    // Besides "model", exactly the parameters of this model are allowed.
    const char *names[neuron_parameters_max + 1] = {"model"};
    for (uint32_t i = 0; i < (*model)->n_parameters; i++) names[i + 1] = (*model)->parameters[i].name;
    if (!fields_only(&population->neuron, names, (*model)->n_parameters + 1, error)) return false;

    // Each is read within its limits; what is missing gets its default, in the description as well.
    for (uint32_t i = 0; i < (*model)->n_parameters; i++) {
        const struct parameter *p = &(*model)->parameters[i];
        if (!fields_number(&population->neuron, p->name, p->fallback, p->low, p->high, &parameters[i], error))
            return false;
    }
    return !(*model)->check || (*model)->check(&population->neuron, parameters, error);
}
