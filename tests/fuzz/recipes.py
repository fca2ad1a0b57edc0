"""What arguments make sense: shapes by letters, numbers by ranges, words by a choice.

A tensor's recipe is its shape in letters (the same letter is the same size; a
capital is 3 to 6; ``*`` is a batch of any dimensions; ``?`` drops the first now
and then), ``same`` as the first tensor, ``index…`` for positions in it,
``classes:SHAPE<SIZE`` for class numbers and ``of:…`` for elements of a few values.
"""

# ruff: noqa: E501 - one row of the table is one line
from __future__ import annotations


def _table(text: str) -> dict[str, dict[str, str]]:
    """``name name: argument=recipe argument=recipe`` by lines."""
    table: dict[str, dict[str, str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        names, _, recipes = line.partition(": ")
        for name in names.split():
            table[name] = {**table.get(name, {}), **dict(each.split("=", 1) for each in recipes.split())}
    return table


BY_NAME = {
    "reduction": "'mean'|'sum'|'none'|'none'|'bad'",
    "rounding_mode": "'trunc'|'floor'|None|'bad'",
    "reduce": "'sum'|'prod'|'amax'|'amin'|'mean'|'bad'",
    "indexing": "'ij'|'xy'|'bad'",
    "interpolation": "'linear'|'lower'|'higher'|'nearest'|'midpoint'|'bad'",
    "UPLO": "'L'|'U'|'bad'",
    "approximate": "'none'|'tanh'|'bad'",
    "side": "'left'|'right'|'bad'",
    "driver": "None|None|'gelsd'|'gels'",
    "mode": "'reduced'|'complete'|'r'|'bad'",
    "mask": "bool",
    "shape": "shape",
    "start_dim": "dim",
    "end_dim": "dim",
    "dim0": "dim",
    "dim1": "dim",
    "dim2": "dim",
    "axis0": "dim",
    "axis1": "dim",
    "dimension": "dim",
    "source": "",
    "destination": "dim",
    "sections": "1..3",
    "split_size": "1..3",
    "split_sizes": "0..3",
    "chunks": "1..4",
    "k": "0..3",
    "n": "0..4",
    "steps": "0..5",
    "base": "2.0|10.0|2|0.5",
    "bins": "1..4",
    "window_length": "0..5",
    "groups": "1|1|1|2",
    "stride": "1..2",
    "padding": "0..1",
    "output_padding": "0|0|0|1",
    "dilation": "1|1|1|2",
    "kernel_size": "1..3",
    "output_size": "1..3",
    "upscale_factor": "1..2",
    "downscale_factor": "1..2",
    "correction": "0|1|1|2|0.5",
    "eps": "1e-6|1e-5|0.1|1e-8",
    "decimals": "-1..2",
    "p": "0.0|1.0|2.0|2|3.0|inf|1.5|0.5",
    "ord": "None|1|2|inf|-inf|'fro'|'nuc'|0|-1|-2|3",
    "offset": "-2..2",
    "diagonal": "-2..2",
    "row": "0..4",
    "col": "0..4",
    "q": "0.5|0.0|1.0|0.25|0.9|1.5",
    "num_samples": "1..3",
    "size": "0..3",
    "beta": "1|0|0.5|2|1.0",
    "alpha": "1|2|0.5|-1|1.0",
    "margin": "0.0|0.5|1.0|1",
    "momentum": "0.1|0.5|1.0",
    "norm_type": "1.0|2.0|2|3",
    "num_classes": "-1..7",
    "minlength": "0..6",
    "ignore_index": "-100|0|1",
    "label_smoothing": "0.0|0.1|1.0",
    "_stacklevel": "3",
    "N": "0..3",
    "r": "0..3",
    "dims_self": "0",
    "repeats": "0..2",
    "scale": "None|0.5|1.0",
    "dropout_p": "0.0",
    "tensor_indices_or_sections": "index-1",
    "maxnorm": "0.5|1.0|10.0",
    "with_replacement": "True|False",
    "hermitian": "False",
    "enable_gqa": "False",
    "padding_idx": "None|0|-1",
    "max_norm": "None",
    "sparse": "False",
    "sparse_grad": "False",
    "path": "None",
    "training": "True|False",
    "range": "None",
    "out_dtype": "T.float32",
}
"""What an argument of this name takes, where the function's own recipe does not say."""

RECIPES = _table(
    """
    mm: self=ij mat2=jk
    bmm: self=bij mat2=bjk
    mv: self=ij vec=j
    dot vdot inner: self=i other=i tensor=i
    outer ger: self=i vec2=j
    addmm: self=ik mat1=ij mat2=jk
    addbmm: self=ik batch1=bij batch2=bjk
    baddbmm: self=bik batch1=bij batch2=bjk
    addmv: self=i mat=ij vec=j
    addr: self=ij vec1=i vec2=j
    linear: input=*ij weight=kj bias=k
    chain_matmul: matrices=tensors-chain
    linalg_multi_dot: tensors=tensors-chain
    block_diag: tensors=tensors-2
    cartesian_prod meshgrid: tensors=tensors-1
    broadcast_tensors atleast_1d atleast_2d atleast_3d: tensors=tensors-like
    det logdet slogdet inverse matrix_exp cholesky cholesky_inverse pinverse linalg_det linalg_slogdet linalg_inv linalg_inv_ex linalg_matrix_exp linalg_cholesky linalg_cholesky_ex linalg_eig linalg_eigh linalg_eigvals linalg_eigvalsh: self=*ii A=*ii
    linalg_cond linalg_pinv linalg_matrix_rank linalg_lu linalg_lu_factor linalg_lu_factor_ex qr svd linalg_qr linalg_svd linalg_svdvals lu: self=*ij A=*ij input=*ij
    linalg_matrix_norm: self=*ij dim=(-2,-1)|(0,1)|(-1,-2)
    matrix_power linalg_matrix_power: self=*ii n=-2..4
    linalg_solve linalg_solve_ex: A=ii B=ij
    linalg_solve_triangular: self=ii B=ij upper=True|False left=True
    triangular_solve: self=ij A=ii
    cholesky_solve: self=ij input2=ii
    linalg_lstsq: self=ij b=ik rcond=None driver=None
    lu_solve: self=ij LU_data=ii LU_pivots=classes:i<2
    linalg_ldl_factor linalg_ldl_factor_ex: self=*ii
    linalg_lu_solve: LU=ii pivots=classes:i<2 B=ij
    lu_unpack: LU_data=ij LU_pivots=classes:i<2
    cross linalg_cross: self=*3 other=*3 dim=-1
    trace diag: self=ij
    t: self=ij?
    cdist: x1=*ij x2=*kj compute_mode=None
    pdist: self=ij
    renorm: self=*ij
    bincount: self=classes:i<5 weights=i
    take: index=index-flat
    put: index=index-flat source=index-flat
    gather take_along_dim: index=index indices=index
    scatter scatter_add scatter_reduce: index=index src=same
    index_select: index=index-1
    index_fill: index=index-1
    index_add index_copy: index=index-1 source=same
    unravel_index: indices=classes:i<4 shape=(2,3)|(4,)|6|(2,2,2)
    nll_loss cross_entropy: input=bc target=classes:b<c weight=c
    multi_margin_loss: input=bc target=classes:b<c weight=c p=1|2
    multilabel_margin_loss: input=bc target=classes:bc<c
    binary_cross_entropy: target=of:0.0,1.0,0.5,0.25 input=bc weight=bc
    mse_loss l1_loss smooth_l1_loss huber_loss kl_div poisson_nll_loss: target=same delta=1.0|0.5 beta=1.0|0.5|0.0 weight=same
    gaussian_nll_loss: target=same var=same
    soft_margin_loss hinge_embedding_loss: target=of:1.0,-1.0
    margin_ranking_loss: input2=same target=of:1.0,-1.0
    cosine_embedding_loss: input1=bd input2=bd target=b
    multilabel_soft_margin_loss: input=bc target=bc weight=c
    triplet_margin_loss triplet_margin_with_distance_loss: positive=same negative=same
    embedding: input=classes:bi<v weight=vd
    one_hot: self=classes:ij<4
    scaled_dot_product_attention: query=*ld key=*sd value=*se attn_mask=ls
    batch_norm: input=bcX running_mean=c running_var=c weight=c bias=c
    instance_norm: input=bcX running_mean=c running_var=c weight=c bias=c
    group_norm: input=bcX num_groups=1..3 weight=c bias=c
    layer_norm rms_norm: input=*ij normalized_shape=(j,)
    local_response_norm: input=bcX size=1..3 k=1.0|2.0
    conv1d: input=bcX? weight=ocs bias=o
    conv2d: input=bcXY? weight=ocst bias=o
    conv3d: input=bcXYZ? weight=ocstu bias=o
    conv_transpose1d: input=bcX? weight=cos bias=o
    conv_transpose2d: input=bcXY? weight=cost bias=o
    conv_transpose3d: input=bcXYZ? weight=costu bias=o
    conv1d conv2d conv3d: padding=0..1
    max_pool1d avg_pool1d adaptive_avg_pool1d adaptive_max_pool1d lp_pool1d: self=bcX? input=bcX?
    max_pool2d avg_pool2d adaptive_avg_pool2d adaptive_max_pool2d lp_pool2d: self=bcXY? input=bcXY?
    max_pool3d avg_pool3d adaptive_avg_pool3d adaptive_max_pool3d lp_pool3d: self=bcXYZ? input=bcXYZ?
    max_unpool1d: input=bcx indices=classes:bcx<x kernel_size=2 output_size=None
    max_unpool2d: input=bcxy indices=classes:bcxy<x kernel_size=2 output_size=None
    max_unpool3d: input=bcxyz indices=classes:bcxyz<x kernel_size=2 output_size=None
    interpolate upsample: input=bcXY mode='nearest'|'bilinear'|'bicubic'|'area'|'nearest-exact'|'linear'|'bad' align_corners=None|True|False recompute_scale_factor=None scale_factor=2|1.5|None|0.5|(2.0,2.0) size=None|2|(3,4)|7 antialias=False
    pad: input=*XY pad=(1,1)|(1,0,2,1)|(-1,1)|(0,0,0,0,1,1)|(1,)|1|(2,2) mode='constant'|'reflect'|'replicate'|'circular'|'bad'
    fold: input=b4X output_size=(3,3)|(4,3)|4 kernel_size=2|(2,2) dilation=1 padding=0|1 stride=1|2
    unfold: kernel_size=2|1|(2,1) stride=1|2
    pixel_shuffle: self=b4XY
    pixel_unshuffle: self=bcXY
    channel_shuffle: self=bcX groups=1..3
    glu: input=2X dim=0|1|-1
    prelu: self=bcx weight=c
    celu elu selu: alpha=1.0|0.5|2
    dropout dropout1d dropout2d dropout3d alpha_dropout feature_alpha_dropout: p=0.0|0.5|1.0|0.25 training=False|True
    bernoulli: p=0.0|0.5|1.0
    binomial: count=bc prob=bc
    multinomial: self=bc replacement=True|False
    einsum: equation='ij,jk->ik'|'ij,jk'|'ij->ji'|'ii'|'ij->i'|'...j,j'|'i,j->ij'|'bad.'|'ij,ij->' tensors=tensors-2
    tensordot: a=ij b=jk
    expand broadcast_to: size=shape
    view reshape: size=shape shape=shape
    unsqueeze: dim=new-dim
    stack: dim=0..2
    unflatten: sizes=(2,-1)|(1,-1)|(-1,)|(3,1) dim=dim
    repeat: repeats=(2,)|(1,2)|(2,1,2)|()|(0,)
    tile: dims=(2,)|(1,2)|(2,1,2)|()
    repeat_interleave: repeats=0..3
    roll: shifts=1|-1|(1,2)|5
    rot90: k=0..3 dims=(0,1)|(1,0)|(-1,0)|[0]
    movedim moveaxis: source=dim destination=dim
    as_strided: size=(2,2)|(1,)|() stride=(1,1)|(2,1)|(1,)|() storage_offset=0..1
    select_scatter: src=ij
    diff: n=0..3
    narrow: start=0..2 length=0..2
    select: index=0..2
    slice_scatter: start=0|1|None end=2|3|None step=1|2
    topk kthvalue: k=1..3
    histc: bins=1..4 min=0|-1|1 max=0|2|1
    histogram: bins=1..4 weight=same
    histogramdd: self=*i2 bins=(2,3)|(1,2)|(2,2)|(2,)|3 range=None|None|(-1.0,1.0,0.0,2.0)|(0,1) weight=*i
    max_pool1d_with_indices: self=bcX?
    grid_sampler: input=bcXY grid=bxy2 interpolation_mode=0|1|2 padding_mode=0|1|2
    frobenius_norm: self=*ij dim=(-2,-1)|(0,1)|-1|(0,)
    nuclear_norm: self=*ij dim=(-2,-1)|(0,1)
    as_strided_scatter: self=34 src=22 size=(2,2)|(2,2)|(1,) stride=(1,2)|(4,1)|(2,1)|(1,) storage_offset=None|0|1|5
    dim_order: self=?2342 ambiguity_check=True|False|False
    searchsorted: sorted_sequence=*n sorter=None
    bucketize: boundaries=n
    vander: x=i
    corrcoef cov: self=ij? fweights=None aweights=None
    combinations: self=i
    tril triu: self=*ij
    linspace logspace: start=0|1|-1.0|2 end=3|2.5|-1 steps=0..5
    arange: start=0|1|-1.5 end=3|4.0|0|2.5 step=1|0.5|2|-1|0
    range: start=0|1|-1.5 end=3|4.0|0|2.5 step=1|0.5|2
    eye: n=0..4 m=0..4
    full: size=(2,3)|(0,)|()|[2] fill_value=1|2.5|True|inf
    zeros ones empty rand randn: size=(2,3)|(0,)|()|[2]|3|(2,-1)
    new_zeros new_ones new_empty new_full: size=(2,3)|(0,)|()|[2]|(2,-1)
    normal: size=(2,3)|(0,)|()|[2] mean=0|1.0|2.5 std=1.0|2|0.5
    randint: size=(2,3)|(0,)|()|[2] low=0|-2 high=3|1|100
    randint_like: low=0|-2 high=3|1|100
    randperm: n=0..8
    uniform: from=0|-1.0 to=1|2.5|0
    random: from=0|-2 to=3|10
    cauchy: median=0|1.0 sigma=1|0.5
    exponential: lambd=1|0.5|0
    geometric: p=0.5|0.1|1.5|0
    log_normal: mean=1|0.0 std=2|1.0
    kaiser_window: beta=12.0
    mvlgamma: p=1..3
    polygamma: n=0..3
    logit: eps=None|1e-3|0.1
    clamp clip: min=-1|0|1.5|None max=1|2|0.5|None
    clamp_min: min=-1|0|1.5
    clamp_max: max=1|0|1.5
    rrelu: lower=0.125|0.1 upper=0.3|0.5
    hardtanh: min_val=-1.0|0|1 max_val=1.0|2|3
    threshold: threshold=0.0|1|0.5 value=0.0|2|-1.0
    quantile nanquantile: q=0.5|0.0|1.0|0.25|1.5|[0.5]
    linalg_vander: x=i
    linalg_vecdot: x=*j y=*j dim=-1
    linalg_diagonal: A=*ij
    linalg_norm: self=ij
    unfold_method: size=1..3
    view_as_complex: self=*i2
    fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft: n=None|None|1|2|3|4|7|0 norm=None|'backward'|'ortho'|'forward'|'bad'
    fft_fftn fft_ifftn fft_rfftn fft_irfftn fft_hfftn fft_ihfftn: self=*ij s=None|None|(3,)|(2,4)|(1,2)|(-1,3)|2 dim=None|None|-1|(0,)|(0,1)|(-1,0)|(-1,-1) norm=None|'backward'|'ortho'|'forward'|'bad'
    fft_fft2 fft_ifft2 fft_rfft2 fft_irfft2 fft_hfft2 fft_ihfft2: self=*ij s=None|None|(3,2)|(2,4)|(3,)|(-1,3) dim=(-2,-1)|(0,1)|(1,0)|(-1,)|(0,0) norm=None|'backward'|'ortho'|'forward'|'bad'
    fft_fftfreq fft_rfftfreq: n=1..6 d=1.0|0.5|2|0.0|-1
    stft: self=?6X n_fft=2..5 hop_length=None|1|2|3|0 win_length=None|None|2|3|4 window=5 center=True|False pad_mode='reflect'|'constant'|'replicate'|'circular'|'bad' return_complex=True|True|True|False|None onesided=None|True|False align_to_window=None
    istft: self=?35 n_fft=4|4|4|5|2 hop_length=None|1|2|3 win_length=None|None|3|4 window=4 onesided=None|True|False length=None|3|5|9|40 return_complex=False|False|True center=True|True|False
    scalar_tensor: s=1|2.5|True|inf|'a'
    """
)
"""What the arguments of each function take."""

ALTERNATIVES = {
    "matmul": [
        dict(zip(("self", "other"), pair.split()))
        for pair in ("i i", "ij j", "i ij", "ij jk", "bij jk", "bij bjk", "abij bjk", "b1ij 1djk")
    ],
    "where": [{"condition": "bool"}],
    "unfold": [{}],
    "cross_entropy": [
        {},
        {"input": "bcX", "target": "classes:bX<c"},
        {"input": "bc", "target": "bc"},
        {"input": "c", "target": "classes:<c"},
    ],
    "nll_loss": [{}, {"input": "bcX", "target": "classes:bX<c"}, {"input": "c", "target": "classes:<c"}],
    "linalg_solve": [{}, {"A": "bii", "B": "bij"}, {"A": "ii", "B": "i"}],
}
"""Functions whose tensors go together in several ways."""
ALTERNATIVES["linalg_matmul"] = ALTERNATIVES["matmul"]

PLAIN = (
    *(
        "polynomial",  # PyTorch gives what was in memory at a NaN
        "std",
        "sum",
        "mean",
        "var",
        "margin",
        "pool",
        "sinc",
        "lerp",
        "loss",
        "entropy",
        "bucketize",
        "searchsorted",
    ),
    *(
        "mm",
        "mv",
        "matmul",
        "dot",
        "inner",
        "addr",
        "conv",
        "linear",
        "einsum",
        "linalg",
        "cholesky",
        "solve",
        "qr",
    ),
    *(
        "svd",
        "det",
        "inverse",
        "matrix",
        "lu",
        "bmm",
        "attention",
        "interpolate",
        "upsample",
        "cdist",
        "kron",
        "cov",
    ),
    *(
        "corrcoef",
        "fold",
        "grid_sampler",
        "embedding",
        "outer",
        "norm",
        "similarity",
        "distance",
        "dist",
        "renorm",
        "cum",
        "trap",
    ),
    *("fft", "stft"),
)
"""Parts of the names of functions that sum products: inf and 1e30 there depend on the order of the sums."""
