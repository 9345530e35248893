#include "neuron/model.h"

extern const struct neuron_model neuron_ignore_and_fire, neuron_lif_delta, neuron_lif_exp, neuron_lif_sfa;

const struct neuron_model *const neuron_models[] = {&neuron_ignore_and_fire, &neuron_lif_delta,
                                                    &neuron_lif_exp, &neuron_lif_sfa, NULL};

bool neuron_model_read(const struct population *population, const struct neuron_model **model,
                       double parameters[neuron_parameters_max], struct error *error) {
    *model = neuron_model_find(population->model);
    if (!*model)
        return fields_refuse(&population->neuron, "model", registry_names(neuron_models).text, error);
    const char *names[neuron_parameters_max + 1] = {"model"};
    for (uint32_t i = 0; i < (*model)->n_parameters; i++) names[i + 1] = (*model)->parameters[i].name;
    if (!fields_only(&population->neuron, names, (*model)->n_parameters + 1, error)) return false;

    for (uint32_t i = 0; i < (*model)->n_parameters; i++) {
        const struct parameter *p = &(*model)->parameters[i];
        if (!fields_number(&population->neuron, p->name, p->fallback, p->low, p->high, &parameters[i], error))
            return false;
    }
    return !(*model)->check || (*model)->check(&population->neuron, parameters, error);
}
