/// \file
/// The leaky integrate-and-fire models against closed forms: potentials at grid points, the f-I curve, the
/// refractory period, adaptation. Spikes probe the potentials: a neuron must fire if a closed form says that
/// it just reaches the threshold, and must not if it just fails to.

#include "support.h"

static const double h = 0.1, hair = 1e-9; // ms; mV
enum { steps = 400 };

struct cell {
    const struct neuron_model *model;
    struct neuron_setup setup;
};

static struct cell cell_of(const char *name) {
    struct cell cell = {neuron_model_find(name),
                        {.seed = 1, .resolution_ms = h, .input_unit = 1, .share = {0, 1, 1}}};
    for (uint32_t i = 0; i < cell.model->n_parameters; i++)
        cell.setup.parameters[i] = cell.model->parameters[i].fallback;
    return cell;
}

static double *parameter(struct cell *cell, const char *name) {
    for (uint32_t i = 0; i < cell->model->n_parameters; i++)
        if (strcmp(cell->model->parameters[i].name, name) == 0) return &cell->setup.parameters[i];
    fail_msg("%s has no parameter %s", cell->model->name, name);
    return NULL;
}

/// Runs one neuron and notes the steps of its first two spikes, or `steps` where there is none.
static void run(const struct cell *cell, const int32_t *input, uint32_t spike[2]) {
    void *state = cell->model->open(&cell->setup);
    uint32_t fired, count = 0;
    spike[0] = spike[1] = steps;
    for (uint32_t step = 0; step < steps; step++)
        if (cell->model->update(state, &input[step], step, &fired) > 0 && count < 2) spike[count++] = step;
    cell->model->close(state);
}

/// Returns the current of one input of 1 pA, t ms after it, integrated by the membrane, in mV.
static double psp(double t, double tau_m, double tau_syn, double C_m) {
    if (t <= 0) return 0;
    if (tau_m == tau_syn) return t * exp(-t / tau_m) / C_m;
    return tau_m * tau_syn / (tau_m - tau_syn) * (exp(-t / tau_m) - exp(-t / tau_syn)) / C_m;
}

TEST(lif_exp_follows_the_closed_form) {
    static const double tau_syn[] = {0.5, 2, 30, 10};
    for (size_t s = 0; s < sizeof tau_syn / sizeof *tau_syn; s++) {
        struct cell cell = cell_of("lif_exp");
        const double tau_m = *parameter(&cell, "tau_m_ms"), C_m = *parameter(&cell, "C_m_pF");
        *parameter(&cell, "tau_syn_ms") = tau_syn[s];
        // Input at steps 3 and 40: in step 3 + k the potential is that of k steps. It has to be a new
        // maximum.
        int32_t input[steps] = {[3] = 700, [40] = 900};
        double highest = 0;
        int probed = 0;
        for (uint32_t step = 4; step < 100; step++) {
            double v = 700 * psp((step - 3.0) * h, tau_m, tau_syn[s], C_m) +
                       900 * psp((step - 40.0) * h, tau_m, tau_syn[s], C_m);
            uint32_t spike[2];
            if (v < highest + 1e-6) continue;
            *parameter(&cell, "V_th_mV") = *parameter(&cell, "E_L_mV") + v - hair;
            run(&cell, input, spike);
            assert_int_equal(spike[0], step);
            *parameter(&cell, "V_th_mV") += 2 * hair;
            run(&cell, input, spike);
            assert_true(spike[0] > step);
            highest = v;
            probed++;
        }
        assert_true(probed > 10);
    }
}

TEST(nearly_equal_time_constants_lose_no_accuracy) {
    struct cell cell = cell_of("lif_exp");
    int32_t input[steps] = {[0] = 1000};
    const double tau_m = *parameter(&cell, "tau_m_ms"), C_m = *parameter(&cell, "C_m_pF");
    *parameter(&cell, "tau_syn_ms") = tau_m * (1 + 1e-13);
    *parameter(&cell, "V_th_mV") = *parameter(&cell, "E_L_mV") + 1000 * psp(20 * h, tau_m, tau_m, C_m) - hair;
    uint32_t spike[2];
    run(&cell, input, spike);
    assert_int_equal(spike[0], 20);
}

/// Lets the neuron fire at step 0 by a large input, and gives it `kick` at step `at`. \return whether it
/// fires there.
static bool fires_when_kicked(struct cell *cell, uint32_t at, double kick) {
    int32_t input[steps] = {[0] = 1 << 30};
    uint32_t spike[2];
    cell->setup.input_unit = kick;
    input[at] = 1;
    run(cell, input, spike);
    assert_int_equal(spike[0], 0);
    assert_true(spike[1] == at || spike[1] == steps);
    return spike[1] == at;
}

/// Returns the potential above E_L after the reset, t ms from the end of the refractory period.
static double after_reset(double t, double reset, double tau_m, double g_c, double tau_c, double c) {
    double v = reset * exp(-t / tau_m);
    if (g_c == 0) return v;
    return v - g_c * c * (exp(-t / tau_c) - exp(-t / tau_m)) / (1 / tau_m - 1 / tau_c);
}

static void check_after_reset(struct cell *cell, double g_c, double alpha_c, double tau_c) {
    const double E_L = *parameter(cell, "E_L_mV"), tau_m = *parameter(cell, "tau_m_ms");
    const double t_ref = *parameter(cell, "t_ref_ms");
    const uint32_t refractory = (uint32_t)nearbyint(t_ref / h);
    const double reset = *parameter(cell, "V_reset_mV") = E_L + 5;
    for (uint32_t k = 1; k < 300; k = k * 3 / 2 + 1) {
        double v = after_reset(k * h, reset - E_L, tau_m, g_c, tau_c, alpha_c * exp(-t_ref / tau_c));
        double missing = *parameter(cell, "V_th_mV") - E_L - v;
        assert_true(fires_when_kicked(cell, refractory + k, missing + hair));
        assert_false(fires_when_kicked(cell, refractory + k, missing - hair));
    }
    assert_false(fires_when_kicked(cell, refractory, 100)); // the last refractory step: input is lost
    assert_true(fires_when_kicked(cell, refractory + 1, 100));
}

TEST(lif_delta_decays_after_the_refractory_period) {
    struct cell cell = cell_of("lif_delta");
    check_after_reset(&cell, 0, 0, 1);
    *parameter(&cell, "t_ref_ms") = 0.5;
    check_after_reset(&cell, 0, 0, 1);
}

TEST(lif_sfa_follows_the_closed_form) {
    struct cell cell = cell_of("lif_sfa");
    *parameter(&cell, "g_c_mV_per_ms") = 0.3;
    *parameter(&cell, "alpha_c") = 2;
    *parameter(&cell, "tau_c_ms") = 70;
    check_after_reset(&cell, 0.3, 2, 70);
}

/// Returns the number of steps between spikes under a constant input per step, once that has settled; 0 if
/// the last intervals differ.
static uint32_t settled_interval(struct cell *cell, double input_mV) {
    enum { long_run = 150000, last = 20 };
    static const int32_t one = 1;
    static uint32_t spikes[long_run];
    uint32_t fired, n = 0;
    cell->setup.input_unit = input_mV;
    void *state = cell->model->open(&cell->setup);
    for (uint32_t step = 0; step < long_run; step++)
        if (cell->model->update(state, &one, step, &fired) > 0) spikes[n++] = step;
    cell->model->close(state);
    assert_true(n > last);
    for (uint32_t i = n - last; i < n; i++)
        if (spikes[i] - spikes[i - 1] != spikes[n - 1] - spikes[n - 2]) return 0;
    return spikes[n - 1] - spikes[n - 2];
}

/// Returns the constant input per step, in mV, that just takes a neuron to the threshold `after` steps after
/// a spike, if it spikes every n steps. Its adaptation after each spike is then alpha_c / (1 - exp(-n h /
/// tau_c)).
static double input_to_fire(struct cell *cell, double n, double after) {
    const double tau_c = *parameter(cell, "tau_c_ms"), t_ref = *parameter(cell, "t_ref_ms");
    const double E_L = *parameter(cell, "E_L_mV"), tau_m = *parameter(cell, "tau_m_ms");
    const double k = after - nearbyint(t_ref / h),
                 decay = exp(-h / tau_m); // steps after the refractory period
    const double c = *parameter(cell, "alpha_c") / (1 - exp(-n * h / tau_c)) * exp(-t_ref / tau_c);
    const double v = after_reset(k * h, *parameter(cell, "V_reset_mV") - E_L, tau_m,
                                 *parameter(cell, "g_c_mV_per_ms"), tau_c, c);
    return (*parameter(cell, "V_th_mV") - E_L - v) * (1 - decay) / (1 - pow(decay, k));
}

TEST(the_adapted_rate_follows_its_f_I_curve) {
    struct cell cell = cell_of("lif_sfa");
    *parameter(&cell, "g_c_mV_per_ms") = 0.2;
    *parameter(&cell, "alpha_c") = 0.02;
    *parameter(&cell, "tau_c_ms") = 1500;
    for (uint32_t n = 25; n < 200; n = n * 5 / 4) {
        const double least = input_to_fire(&cell, n, n), most = input_to_fire(&cell, n, n - 1.0);
        assert_int_equal(settled_interval(&cell, 0.95 * least + 0.05 * most), n);
        assert_int_equal(settled_interval(&cell, 0.05 * least + 0.95 * most), n);
    }
}

TEST(lif_sfa_without_adaptation_is_lif_delta) {
    struct cell adaptive = cell_of("lif_sfa"), plain = cell_of("lif_delta");
    *parameter(&adaptive, "g_c_mV_per_ms") = 0;
    int32_t input[steps];
    uint32_t count = 0, fired;
    void *a = adaptive.model->open(&adaptive.setup), *p = plain.model->open(&plain.setup);
    for (uint32_t step = 0; step < steps; step++) {
        input[step] = (int32_t)(rng_draw(3, rng_neuron, 0, 0, step).word[0] % 3);
        uint32_t n = adaptive.model->update(a, &input[step], step, &fired);
        assert_int_equal(n, plain.model->update(p, &input[step], step, &fired));
        count += n;
    }
    assert_true(count > 3);
    adaptive.model->close(a);
    plain.model->close(p);
}

/// Returns the steps between spikes under a constant current: the refractory period, and then those until the
/// potential has reached the threshold (the f-I curve of the leaky integrate-and-fire neuron, on the grid).
static uint32_t interval(struct cell *cell, double I_e) {
    const double tau_m = *parameter(cell, "tau_m_ms"), top = I_e * tau_m / *parameter(cell, "C_m_pF");
    const double E_L = *parameter(cell, "E_L_mV"), reset = *parameter(cell, "V_reset_mV") - E_L;
    const double threshold = *parameter(cell, "V_th_mV") - E_L;
    if (top <= threshold) return 0;
    double t_ms = tau_m * log((top - reset) / (top - threshold));
    return (uint32_t)(nearbyint(*parameter(cell, "t_ref_ms") / h) + ceil(t_ms / h));
}

TEST(the_rate_follows_the_f_I_curve) {
    static const char *const names[] = {"lif_exp", "lif_delta"};
    static const int32_t input[steps] = {0};
    for (size_t m = 0; m < 2; m++)
        for (double I_e = 300; I_e < 30000; I_e *= 1.1) {
            struct cell cell = cell_of(names[m]);
            *parameter(&cell, "I_e_pA") = I_e;
            *parameter(&cell, "V_reset_mV") = -70;
            uint32_t spike[2], expected = interval(&cell, I_e);
            run(&cell, input, spike);
            if (expected == 0) assert_int_equal(spike[0], steps);
            if (expected > 0 && spike[1] < steps) assert_int_equal(spike[1] - spike[0], expected);
            if (expected > 0 && 2 * expected < steps) assert_true(spike[1] < steps);
        }
}

TEST(initial_potentials_are_normal) {
    enum { n = 4000 };
    struct cell cell = cell_of("lif_delta");
    *parameter(&cell, "V_init_mV") = -60;
    *parameter(&cell, "V_init_sd_mV") = 5;
    cell.setup.share.count = n;
    void *block = cell.model->open(&cell.setup);
    static const int32_t input[n] = {0};
    static uint32_t fired[n];
    const double decay = exp(-h / *parameter(&cell, "tau_m_ms")); // the threshold is tested after a step
    const double z = (15 / decay - 5) / 5;
    const double p = 0.5 * erfc(z * M_SQRT1_2), count = cell.model->update(block, input, 0, fired);
    assert_true(fabs(count - n * p) < 4 * sqrt(n * p));
    cell.model->close(block);
}

TEST(a_reset_above_the_threshold_is_refused) {
    for (int m = 0; neuron_models[m]; m++) {
        if (!neuron_models[m]->check) continue;
        struct description d;
        struct error error = {""};
        const struct neuron_model *model;
        double parameters[neuron_parameters_max];
        char neuron[200];
        snprintf(neuron, sizeof neuron,
                 "network.populations.0.neuron={\"model\": \"%s\", \"V_reset_mV\": -50, \"V_th_mV\": -50}",
                 neuron_models[m]->name);
        open_description(&d, eight_areas, (const char *const[]){neuron, NULL});
        assert_false(neuron_model_read(&d.network.populations[0], &model, parameters, &error));
        assert_string_equal(error.text, "network.populations.0.neuron.V_reset_mV: -50; expected below the "
                                        "threshold V_th_mV, -50 mV");
        description_close(&d);
    }
}
