/*
 * options.c - the options of training, by the names that the command line and files use.
 */
#include <mase/train.h>

#define NO_LIMIT 0x1p53

static const char *const intervals[] = { "epoch", "step", NULL };

#define FLOAT(f, k, d, lo, hi, h) MASE_OPT_FLOAT(struct mase_train_opts, f, k, d, lo, hi, h)
#define INT(f, k, d, lo, hi, h)   MASE_OPT_INT(struct mase_train_opts, f, k, d, lo, hi, h)

const struct mase_opt mase_train_rows[] = {
    MASE_OPT_CHOICE(struct mase_train_opts, optimizer, "training_optimizer", "adam",
                    mase_optimizer_names, "optimiser"),
    FLOAT(learning_rate, "learning_rate", 1e-5, 0, NO_LIMIT, "initial learning rate"),
    FLOAT(weight_decay, "weight_decay", 0, 0, NO_LIMIT, "weight decay"),
    FLOAT(momentum, "momentum", 0.9, 0, 1, "momentum of sgd"),
    MASE_OPT_BOOL(struct mase_train_opts, plain_momentum, "plain_momentum", false,
                  "sgd without Nesterov's step"),
    MASE_OPT_CHOICE(struct mase_train_opts, schedule, "lr_schedule", "cosine", mase_schedule_names,
                    "how the learning rate falls"),
    MASE_OPT_CHOICE(struct mase_train_opts, lr_interval, "lr_interval", "epoch", intervals,
                    "cosine, restarts, polynomial: when the rate falls"),
    FLOAT(lr_min, "lr_min", -1, 0, 0, "where the rate ends; below 0: 1e-6, for sgd 0"),
    INT(lr_step_size, "lr_step_size", 10, 1, NO_LIMIT,
        "step: epochs between two cuts; restarts: epochs until the first"),
    FLOAT(lr_gamma, "lr_gamma", 0.1, 0, 1, "step, plateau: factor of a cut"),
    FLOAT(lr_power, "lr_power", 1, 0, NO_LIMIT, "polynomial: power of what is left"),
    INT(lr_mult, "lr_mult", 1, 1, NO_LIMIT, "restarts: how much longer the next one takes"),
    INT(lr_patience, "lr_patience", 10, 0, NO_LIMIT,
        "plateau: epochs without a lower validation loss before a cut"),
    INT(warmup_steps, "warmup_steps", 0, 0, NO_LIMIT, "steps in which the rate rises from near 0"),
    INT(warmup_epochs, "warmup_epochs", 0, 0, NO_LIMIT, "the same in epochs"),
    INT(max_epochs, "max_epochs", 20, 0, NO_LIMIT, "passes over the training data"),
    INT(max_steps, "max_steps", -1, 0, 0, "stop after so many steps; not positive: no limit"),
    INT(batch_size, "batch_size", 128, 1, 1 << 24, "samples in a batch"),
    INT(accumulate, "accumulate_grad_batches", 1, 1, NO_LIMIT, "batches for one step"),
    INT(patience, "patience", 0, 0, NO_LIMIT,
        "stop after so many epochs without a better validation loss; 0: never"),
    FLOAT(min_delta, "min_delta", 0, 0, NO_LIMIT, "how much better counts as better"),
    FLOAT(clip_value, "clip_value", 0, 0, NO_LIMIT, "cut each gradient at this size; 0: never"),
    FLOAT(clip_norm, "clip_norm", 0, 0, NO_LIMIT,
          "scale the gradients to at most this length; 0: never"),
    INT(quantize_after, "quantize_after", 0, 0, NO_LIMIT,
        "epochs in float before the number formats are on"),
    INT(freeze_bn_stats_after, "freeze_bn_stats_after", -1, -1, NO_LIMIT,
        "epochs before the statistics of batch norms are frozen; -1: never"),
    FLOAT(average_weights, "average_weights", 0, 0, 1,
          "decay of an average of the weights, which is evaluated and kept; 0: none"),
    FLOAT(ebops_weight, "ebops_weight", 0, 0, 1,
          "how much an effective bit operation counts in the loss, for formats that learn bits"),
    FLOAT(ebops_ramp, "ebops_ramp", 0.5, 0, 1,
          "share of the quantised epochs in which ebops_weight rises from 0"),
    FLOAT(bits_hold, "bits_hold", 0.25, 0, 1,
          "share of the quantised epochs, the last, in which learned bits stay as they are"),
    FLOAT(distill, "distill", 0, 0, 1,
          "share of the loss that compares the quantised network with the float one it was"),
    FLOAT(distill_temperature, "distill_temperature", 2, 0.01, 1000,
          "what both outputs are divided by before they are compared"),
    FLOAT(label_smoothing, "label_smoothing", 0, 0, 1, "share of the target given to all classes"),
    MASE_OPT_TEXT(struct mase_train_opts, class_weights, "class_weights", NULL,
                  "weights of the classes in the loss: balanced, or one number for each"),
    INT(threads, "threads", 0, 0, 1024, "threads; 0: as many as the network can use"),
    INT(seed, "seed", 0, 0, UINT32_MAX, "seed of every random number"),
    INT(log_every, "log_every_n_steps", 50, 0, NO_LIMIT, "steps between two logged values"),
    MASE_OPT_BOOL(struct mase_train_opts, dev_run, "to_debug", false,
                  "one batch to train on, one to validate on, and no files"),
    { 0 },
};
