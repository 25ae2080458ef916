/*
 * recurrent.h - the sizes of nn.RNN, nn.LSTM, nn.GRU and their cells, read once for parameters,
 * shapes, the reference and plans.
 */
#ifndef MASE_IR_GRAPH_RECURRENT_H
#define MASE_IR_GRAPH_RECURRENT_H

#include <mase/call.h>

enum mase_cell { MASE_CELL_TANH, MASE_CELL_RELU, MASE_CELL_LSTM, MASE_CELL_GRU };

struct mase_recurrent {
    enum mase_cell cell;
    bool single; /* nn.RNNCell, nn.LSTMCell, nn.GRUCell: one layer, one direction, one step */
    bool bias, batch_first;
    int layers, directions;
    int64_t gates;  /* rows of a weight for each hidden unit */
    int64_t input;  /* features of the first layer's input */
    int64_t hidden; /* units */
    int64_t state;  /* features of h: hidden, or the projection size of an LSTM */
    double dropout; /* between layers, in training */
};

/* Read the attributes of a layer; an error names a wrong one. */
enum mase_status mase_recurrent_read(struct mase_recurrent *r, const struct mase_module *m,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* "weight_ih" of a layer and direction: weight_ih_l1_reverse; of a cell it is the name itself. */
const char *mase_recurrent_name(struct mase_arena *a, const struct mase_recurrent *r,
                                const char *what, int layer, int direction);
/* The parameters of a layer and direction, in PyTorch's order. */
struct mase_recurrent_param {
    const char *what; /* "weight_ih" */
    struct mase_shape shape;
};
enum { MASE_RECURRENT_PARAMS = 5 };
int mase_recurrent_params(struct mase_recurrent_param *p, const struct mase_recurrent *r,
                          int layer);
/* Features of the input of layer l. */
int64_t mase_recurrent_features(const struct mase_recurrent *r, int layer);

/* A call of such a layer. */
struct mase_sequence {
    struct mase_recurrent layer;
    int64_t steps, samples;
    bool batched;                    /* else x has no batch axis */
    const struct mase_tensor *x;     // (T, N, C), (N, T, C), (T, C); a cell's (N, C) or (C)
    const struct mase_tensor *h, *c; // (layers * directions, N, H) or NULL: zeros
};
/* A parameter of the layer: its module's, or of the call's `weights`; NULL when it has none. */
const struct mase_tensor *mase_sequence_param(const struct mase_sequence *q,
                                              const struct mase_call *c, const char *what,
                                              int layer, int direction);
enum mase_status mase_sequence_read(struct mase_sequence *q, const struct mase_call *c,
                                    struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_IR_GRAPH_RECURRENT_H */
