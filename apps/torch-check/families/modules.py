"""Modules of torch.nn: outputs, gradients of inputs and weights, buffers."""

import torch
from torch import nn

from torchcheck import add, check, close, floats, ints, same, same_module

ROWS, PICTURE, LINE = floats(6, 8), floats(2, 3, 9, 9), floats(2, 3, 20)
ACTIVATIONS = """ReLU ReLU6 LeakyReLU ELU SELU CELU GELU SiLU Mish Sigmoid Tanh Softplus Softsign Tanhshrink Hardtanh
Hardsigmoid Hardswish Softshrink Hardshrink LogSigmoid""".split()
for name in ACTIVATIONS:
    add(f"modules/{name.lower()}", lambda m=getattr(nn, name): same_module(m, ROWS, grad=False))
for name in ACTIVATIONS:
    add(f"modules/{name.lower()}-grad", lambda m=getattr(nn, name): same_module(m, ROWS))

MODULES = {
    "linear": (lambda: nn.Linear(8, 5), ROWS),
    "linear-no-bias": (lambda: nn.Linear(8, 5, bias=False), ROWS),
    "linear-3d": (lambda: nn.Linear(8, 5), floats(2, 3, 8)),
    "bilinear": (lambda: nn.Bilinear(8, 8, 3), ROWS, ROWS),
    "identity": (nn.Identity, ROWS),
    "flatten": (nn.Flatten, PICTURE),
    "softmax": (lambda: nn.Softmax(dim=1), ROWS),
    "log-softmax": (lambda: nn.LogSoftmax(dim=-1), ROWS),
    "softmin": (lambda: nn.Softmin(dim=1), ROWS),
    "glu": (nn.GLU, ROWS),
    "prelu": (nn.PReLU, ROWS),
    "threshold": (lambda: nn.Threshold(0.1, 20), ROWS),
    "layer-norm": (lambda: nn.LayerNorm(8), ROWS),
    "layer-norm-plain": (lambda: nn.LayerNorm(8, elementwise_affine=False), ROWS),
    "rms-norm": (lambda: nn.RMSNorm(8), ROWS),
    "group-norm": (lambda: nn.GroupNorm(3, 6), floats(2, 6, 5)),
    "batch-norm-1d": (lambda: nn.BatchNorm1d(8), ROWS),
    "batch-norm-2d": (lambda: nn.BatchNorm2d(3), PICTURE),
    "batch-norm-eval": (lambda: nn.BatchNorm2d(3).eval(), PICTURE),
    "instance-norm": (lambda: nn.InstanceNorm2d(3), PICTURE),
    "conv-1d": (lambda: nn.Conv1d(3, 4, 3), LINE),
    "conv-2d": (lambda: nn.Conv2d(3, 4, 3, padding=1), PICTURE),
    "conv-2d-stride": (lambda: nn.Conv2d(3, 4, 3, stride=2), PICTURE),
    "conv-2d-groups": (lambda: nn.Conv2d(3, 6, 3, groups=3), PICTURE),
    "conv-2d-dilation": (lambda: nn.Conv2d(3, 4, 3, dilation=2), PICTURE),
    "conv-3d": (lambda: nn.Conv3d(2, 3, 2), floats(1, 2, 4, 4, 4)),
    "conv-transpose-2d": (lambda: nn.ConvTranspose2d(3, 4, 3), PICTURE),
    "max-pool-1d": (lambda: nn.MaxPool1d(2), LINE),
    "max-pool-2d": (lambda: nn.MaxPool2d(2), PICTURE),
    "avg-pool-1d": (lambda: nn.AvgPool1d(2), LINE),
    "avg-pool-2d": (lambda: nn.AvgPool2d(2), PICTURE),
    "adaptive-avg-pool-2d": (lambda: nn.AdaptiveAvgPool2d(3), PICTURE),
    "adaptive-max-pool-2d": (lambda: nn.AdaptiveMaxPool2d(3), PICTURE),
    "upsample-nearest": (lambda: nn.Upsample(scale_factor=2), PICTURE),
    "upsample-bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), PICTURE),
    "zero-pad-2d": (lambda: nn.ZeroPad2d(2), PICTURE),
    "reflection-pad-2d": (lambda: nn.ReflectionPad2d(2), PICTURE),
    "embedding": (lambda: nn.Embedding(10, 4), ints(3, 5, low=0, high=10)),
    "embedding-padding": (lambda: nn.Embedding(10, 4, padding_idx=2), ints(3, 5, low=0, high=10)),
    "embedding-bag": (lambda: nn.EmbeddingBag(10, 4, mode="sum"), ints(3, 5, low=0, high=10)),
    "dropout-eval": (lambda: nn.Dropout(0.5).eval(), ROWS),
    "lstm": (lambda: nn.LSTM(8, 5), floats(4, 2, 8)),
    "gru": (lambda: nn.GRU(8, 5), floats(4, 2, 8)),
    "rnn": (lambda: nn.RNN(8, 5), floats(4, 2, 8)),
    "lstm-cell": (lambda: nn.LSTMCell(8, 5), ROWS),
    "gru-cell": (lambda: nn.GRUCell(8, 5), ROWS),
    "multihead-attention": (lambda: Attention(8, 2), floats(2, 5, 8)),
    "transformer-layer": (lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True), floats(2, 5, 8)),
    "transformer-gelu": (
        lambda: nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", batch_first=True),
        floats(2, 5, 8),
    ),
    "mlp": (lambda: nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)), ROWS),
    "mlp-relu": (lambda: nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)), ROWS),
    "cnn": (
        lambda: nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.SiLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(36, 2)
        ),
        PICTURE,
    ),
    "pixel-shuffle": (lambda: nn.PixelShuffle(3), floats(1, 9, 2, 2)),
    "cosine-similarity": (nn.CosineSimilarity, ROWS, floats(6, 8, seed=3)),
    "pairwise-distance": (nn.PairwiseDistance, ROWS, floats(6, 8, seed=3)),
    "unfold": (lambda: nn.Unfold(3), PICTURE),
    "fold": (lambda: nn.Fold((4, 4), 2), floats(1, 8, 9)),
}


class Attention(nn.MultiheadAttention):
    def __init__(self, size, heads):
        super().__init__(size, heads, batch_first=True)

    def forward(self, x):
        return super().forward(x, x, x)


for name, (make, *inputs) in MODULES.items():
    add(f"modules/{name}", lambda m=make, i=inputs: same_module(m, *i))

SCORES, CLASSES, TARGET = floats(6, 5), ints(6, low=0, high=5), floats(6, 5, low=0, high=1, seed=1)
LOSSES = {
    "cross-entropy": (nn.CrossEntropyLoss, SCORES, CLASSES),
    "cross-entropy-smooth": (lambda: nn.CrossEntropyLoss(label_smoothing=0.1), SCORES, CLASSES),
    "cross-entropy-ignore": (lambda: nn.CrossEntropyLoss(ignore_index=2), SCORES, CLASSES),
    "cross-entropy-soft": (nn.CrossEntropyLoss, SCORES, TARGET),
    "mse": (nn.MSELoss, SCORES, TARGET),
    "mse-sum": (lambda: nn.MSELoss(reduction="sum"), SCORES, TARGET),
    "l1": (nn.L1Loss, SCORES, TARGET),
    "smooth-l1": (nn.SmoothL1Loss, SCORES, TARGET),
    "huber": (nn.HuberLoss, SCORES, TARGET),
    "bce": (lambda: nn.BCELoss(), floats(6, 5, low=0.1, high=0.9), TARGET),
    "bce-with-logits": (nn.BCEWithLogitsLoss, SCORES, TARGET),
    "kl-div": (lambda: nn.KLDivLoss(reduction="batchmean"), SCORES, TARGET),
    "soft-margin": (nn.SoftMarginLoss, SCORES, torch.sign(TARGET - 0.5)),
    "margin-ranking": (nn.MarginRankingLoss, SCORES[:, 0], SCORES[:, 1], torch.sign(TARGET[:, 0] - 0.5)),
    "cosine-embedding": (nn.CosineEmbeddingLoss, SCORES, TARGET, torch.sign(TARGET[:, 0] - 0.5)),
    "triplet": (nn.TripletMarginLoss, SCORES, TARGET, floats(6, 5, seed=4)),
    "gaussian-nll": (nn.GaussianNLLLoss, SCORES, TARGET, floats(6, 5, low=0.5, high=1, seed=4)),
    "poisson-nll": (nn.PoissonNLLLoss, SCORES, TARGET),
    "ctc": (lambda: Ctc(), floats(8, 2, 5)),
}


class Ctc(nn.Module):
    def forward(self, x):
        lengths = torch.full((2,), 8), torch.tensor([3, 2])
        return nn.functional.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2, 3], [2, 4, 0]]).to(x.device), *lengths)


class Loss(nn.Module):
    """Only the scores get gradients."""

    def __init__(self, loss):
        super().__init__()
        self.loss = loss

    def forward(self, scores, *rest):
        return self.loss(scores, *[each.detach() for each in rest])


for name, (make, *inputs) in LOSSES.items():
    add(f"modules/loss-{name}", lambda m=make, i=inputs: same_module(lambda: Loss(m()), *i))
add("modules/nll", lambda: same(lambda x, t: nn.functional.nll_loss(x.log_softmax(1), t), SCORES, CLASSES, grad=True))


@check
def state_goes_to_and_fro():
    torch.manual_seed(0)
    module = nn.Linear(3, 4)
    moved = nn.Linear(3, 4).npu()
    moved.load_state_dict(module.state_dict())
    close(moved.cpu().state_dict(), module.state_dict())


@check
def half_weights():
    module = nn.Linear(3, 4).npu().half()
    assert module(torch.ones(2, 3, device="npu").half()).dtype == torch.float16


@check
def checkpointed():
    from torch.utils.checkpoint import checkpoint

    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(8, 8), nn.GELU(), nn.Linear(8, 4))
    same_module(lambda: Checkpointed(module), ROWS)
    assert checkpoint is not None


class Checkpointed(nn.Module):
    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, x):
        from torch.utils.checkpoint import checkpoint

        return checkpoint(self.module, x, use_reentrant=False)
