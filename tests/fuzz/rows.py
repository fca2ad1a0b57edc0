"""The calls that the fuzzer makes: a row for each family, as ``operands: expression``.

An operand is a name and a shape in letters, ``x[ab]``; the same letter is the same size everywhere in a row.
``*`` stands for any shape, and ``~`` for one that broadcasts with that of the first operand. A sign after the
name says what the elements are: ``^`` now and then 0 or infinite, ``+`` positive, ``-`` between
−1 and 1, ``!`` all different, ``?`` bools, ``#`` integers, ``d`` float64, ``s`` a positive definite matrix,
``<n`` integers below the size ``n``. `` w c=3`` at the end fixes a size.

In the expression braces hold choices, ``{1|2|'a'}``, or a range, ``{0..3}``; ``{dim}`` is a dimension of the
first operand. ``T`` is the library, ``F`` its ``nn.functional``, ``L`` its ``linalg``.
"""

# ruff: noqa: E501 - one row of the table is one line
ROWS = """
x^[*]: T.{abs|neg|exp|exp2|expm1|sin|cos|tanh|sigmoid|relu|sinh|cosh|atan|asinh|square|sign|erf|erfc}(x)
x^[*]: T.{floor|ceil|round|trunc|frac|isnan|isinf|isfinite|logical_not|deg2rad|rad2deg|positive|i0|ones_like}(x)
x+[*]: T.{sinc|log|log2|log10|log1p|sqrt|rsqrt|reciprocal|lgamma|digamma|acosh|exp|tan}(x)
x-[*]: T.{asin|acos|atanh|erfinv|tan|log1p|special.ndtri|arcsin}(x)
x^[*]: F.{relu|relu6|elu|selu|celu|silu|mish|softplus|softsign|tanhshrink|hardswish|hardsigmoid|logsigmoid}(x)
x^[*]: F.{leaky_relu|hardshrink|softshrink|elu|celu}(x, {0.1|0.5|0.01})
x^[*]: {F.leaky_relu(x, negative_slope=-0.5)|F.celu(x, alpha=2.0)|F.softplus(x, 2, 5)|F.softmin(x, 0)|F.threshold(x, 0.4, -7.0)|T.selu(x)|T.celu(x)|T.relu(x)}
x^[*]: F.hardtanh(x, {-1|-0.5}, {0.5|2}) + F.threshold(x, {0.1|0.5}, {20|-1})
x[*]: F.gelu(x, approximate={'none'|'tanh'})
x^[*]: T.clamp(x, {-1|None|0.0}, {1|0.5})
x[*]: x.clone().{exp|sin|tanh|sigmoid|relu|neg|abs|square|sqrt|floor|erf|cos|reciprocal|atan|expm1|frac|asinh|atanh}_()
x[*]: x.clone().{zero_()|fill_(2)|clamp_(-1, 1)|mul_(3)|pow_(2)|add_(1)|t_().t_()|unsqueeze_(0)|masked_fill_(x > 0, 1)}
x^[*], y^[~]: T.{add|sub|mul|div|maximum|minimum|fmax|fmin|atan2|hypot|copysign|logaddexp|heaviside|true_divide}(x, y)
x^[*], y^[~]: T.{eq|ne|lt|le|gt|ge|logical_and|logical_or|logical_xor|isclose}(x, y)
x[*], y[~]: (x * y).{add|sub|mul}_(y)
x^[*], y^[~]: T.{add|sub}(x, y, alpha={2|-0.5})
x+[*], y[~]: T.{pow|xlogy}({x, y|y, x.floor()|x, 2|x, -0.5|2, y|x, 3|y, 2})
x[*], y+[~]: T.{remainder|fmod|floor_divide|div}(x, y)
x[*], y+[~]: T.div(x, y, rounding_mode={'floor'|'trunc'|None})
x[*], y[~], z[~]: T.{where(x > 0, y, z)|lerp(x, y, z)|addcmul(x, y, z)|addcdiv(x, y, z.abs() + 1)|clamp(x, y, y + 1)}
x[*]: {2 - x|1 / (x.abs() + 1)|2 ** x|x % 2|x // 2|-x|abs(x)|x > 0.5|3 + x * 2|(x > 0) & (x < 1)|~(x > 0)|x.double() + x}
x#[*], y#[~]: {x + y|x * y|x - y|x / (y * y + 1)|x & y|x / 2|x + 0.5|x.float() * y|x == y|x ** 2|x << 1|x.clamp(-1, 1)|x.cumsum(0)}
x#[*]: T.{sum|prod|any|all|bitwise_not|neg|abs|sign|exp|sigmoid|argmax|square|count_nonzero|isnan|sqrt}(x)
x[*]: x.{float|double|int|bool|long|short}().{float|double|neg|abs}()
x[*]: {x.to(T.{float64|int32|bool|int8}).sum()|x.float().half()}
x[*]: T.{sum|mean|prod|var|std|logsumexp|norm|any|all|count_nonzero|amax|amin|nansum|nanmean|linalg.vector_norm}(x, dim={dim})
x!+[*]: x.{sum|mean|amax|amin|argmax|argmin|logsumexp|norm|var|std|prod|median}({dim=dim|dim=dim, keepdim=True})
x[*]: x.{sum|mean|var|std|prod|max|min|norm|argmax|argmin|median|any|all|count_nonzero|nansum}()
x[*]: T.{sum|mean|amax|amin|logsumexp|count_nonzero}(x, {dims})
x[abc]: x.{sum|mean|nansum|nanmean|amax|amin|var|std|logsumexp}({axis=1, keepdims=True|dim=(0, 2)|dim=[-1, 1], keepdim=True|(0, 1, 2)|axis=-1})
x[*]: T.{var|std|var_mean|std_mean}(x, {dim}, correction={0|1}, keepdim={True|False})
x[ab]: T.{var|std|var_mean|std_mean}(T.cat([x, x + 1, x.square()]), {dim=(0, 1), keepdim=True|dim=1, unbiased=False|unbiased=False|0, False|1, True, True|dim=0, correction=2|correction=0})
x[*]: T.norm(x, {1|2|3|inf|0.5|-inf|0}, {dim}, {True|False})
x!+[*]: x.{max|min|median|mode|sort|cummax|cummin|aminmax}(dim=dim)
x!+[*]: x.{kthvalue|topk|roll|diff}(1, {dim})
x!+[*]: x.sort({dim}, {True|False})
x!+[*]: x.argsort({dim}, {True|False})
x[*]: x.{cumsum|cumprod|logcumsumexp|softmax|log_softmax|cummax|cummin|flip}({dim})
x[*]: F.{softmax|log_softmax|softmin|glu}(x, {dim})
x[*]: F.normalize(x, {2.0|1.0|3.0}, {dim})
x[a]: T.{unique(x)|bincount(x.abs().long())|diff(x)|diag(x)|tril(x[None])}
x#[a]: T.unique({x, return_inverse=True|x, return_counts=True|x}, sorted=True)
x[*]: x.{reshape(-1)|flatten()|squeeze()|unsqueeze({dim})|squeeze({dim})|contiguous()|clone()|ravel()|view(-1)|numel()}
x[*]: T.transpose(x, {dim}, {dim})
x[*]: T.movedim(x, {dim}, {dim})
x[abc]: x.{permute(2, 0, 1)|permute(-1, 1, 0)|reshape(a * b, c)|view(a, -1)|flatten(1)|flatten(0, 1)|swapaxes(0, 2)|unfold(1, 1, 1)}
x[abc]: x.{mT|swapaxes(0, 1)|unflatten(1, (1, -1))|moveaxis((0, 1), (2, 0))|mT.reshape(-1)|flatten(start_dim=0, end_dim=-2)|movedim(0, -1)|mT.flatten(1)}
x[abc]: {T.permute(x, (1, -1, 0))|x[:1, :, :1].squeeze((0, -1))|x[:, :1].squeeze(dim=1)|(x * 1)[0].transpose_(0, 1).mul_(2)|(x * 1).unsqueeze_(0) * x|(x * 1)[:1].squeeze_()|x[:1, :1, :1].reshape(())}
x[ab]: {x.H|x.expand(3, -1, b)|x[:, :1].expand(-1, 4)|x[:1].expand_as(T.zeros(2, b))|T.broadcast_to(x, (2, a, b))|T.broadcast_tensors(x[:, :1], T.zeros(3))|T.reshape(x, (-1,))}
x[*]: x.expand({2|1|3}, *x.shape) * 2
x[*]: x.{repeat(2, *[1] * x.ndim)|tile(2)|repeat_interleave(2)|repeat_interleave(2, dim=0)|roll(1)|roll(-2, {dim})|flip({dim})}
x[abc]: {T.flip(x, dims=(0, 2))|x.flip(1, -1)|T.roll(x, (1, -2), (0, 1))|T.roll(x, shifts=5, dims=-1)|x.rot90(-1, (1, 2))|x.rot90(k=2, dims=[0, 1])|T.tile(x, dims=(2,))|x.tile(2, 1, 1, 2)}
x[ab]: {x.repeat(2, 0)|x.repeat(2, 1, 3)|T.repeat_interleave(x, 3, dim=1)|T.repeat_interleave(x, T.arange(a), dim=0)|T.repeat_interleave(T.tensor([1, 0, 2])) + x.sum()}
x[ab]: T.{tril|triu|diagonal|diag}(x, {-1..2})
x[abc]: {x.diagonal(-1, 2, 0)|x.diagonal(0, 0, 1) ** 2|T.tril(x, -1)|T.triu(x, diagonal=1)|T.tril(x > 0, diagonal=1)|x.tril()}
x[ab]: {x.diag_embed(1, 2, 0)|x[0].diag(-1)|T.diagflat(x, -1)|T.block_diag(x, x[0], x[0, 0])|(x * 1).triu_() * (x * 1).tril_()|x[T.tril_indices(a, b, -1).unbind()]|T.triu_indices(a, b, offset=1)|T.tril_indices(a, b, dtype=T.int32)}
x[ab]: x.{diagonal().sum()|trace()|rot90()|rot90(2)|fliplr()|flipud()|t()|T|diag_embed()}
x[*]: T.{cat|stack|hstack|vstack|dstack}([x, x * 2])
x[ab], y[cb], z[ab]: [T.cat([x, y, z]), T.stack([x, z], {-1|0|1|2}), T.vstack([x, y]), T.cat([x, z], 1), T.hstack([x, z])]
x[ab], y[cb]: T.{cat((T.tensor([]), x, y))|concat((x.double(), y))|cat((x, y, x), dim=0)|cat((x, x[:, :0]), -1)|vstack((x, y[0]))|column_stack((x.t(), y[0]))|hstack((x[0], y[0]))|dstack((x, x))|stack((x[0], y[0]), dim=-1)|stack((x[0, 0], y[0, 0]))}
x[ab], y[]: {T.atleast_1d(y)|T.atleast_2d(y, x[0])|T.atleast_3d(x[0])|T.atleast_3d(y)}
x[*]: x.{split|chunk}({1..3}, {dim})
x[abc]: x.{split([1, a - 1])|unbind({dim})|select({dim}, 0)|narrow({dim}, 0, 1)|index_select({dim}, T.tensor([0, 0]))}
x[abc]: {T.split(x, [1, 0, b - 1], dim=1)|x.split(3, dim=-1)|x.split(2)[-1]|T.chunk(x, chunks=4, dim=1)|T.unbind(x, dim=-1)[::2]|x.narrow(1, -1, 1)|x.select(1, -1)}
x[abc]: x[{index}]
x[abc], y[]: put(x.clone(), ({index},), y)
x[abc], i<a[d]: x[i] * x[i].sum() + x[i, 0].sum()
x[ab], i<a[d]: {x[[0, 0, -1]]|x[[0, -1], [0, 0]]|x[[[0, -1], [-1, 0]]]|x[[]]|x[i[:, None]]|x[:, x[0] > 0]|x[x > 0]|x[i, 0] * x[0, None, [0]]|x[..., 0][i]|x[1:, ::2]}
x[abc], i<a[d], j<c[d]: {x[i, :, j]|x[:, None, 0, j]|x[i][..., j]|x[i, ..., j]|put(x.clone(), (i, 0, j), 1.0)|x[i, 0]}
x[ab], i<b[ac], y[ac]: T.{gather(x, 1, i)|take_along_dim(x, i, 1)|scatter(x, 1, i, 2.0)|scatter_add(x, 1, i, y)}
x[ab], i<a[cb]: {T.gather(x, 0, i)|x.gather(dim=-2, index=i[:, :1])|x.take_along_dim(i, 0)|T.take_along_dim(x, x.argsort(1), 1)|x.take_along_dim(T.tensor([a * b - 1, 0]))|x[0].gather(0, T.zeros(0).long())}
x[ab], i<b[ac], y!+[ac]: x.scatter_reduce(1, i, y, {'sum'|'mean'|'prod'|'amax'|'amin'}, include_self={True|False})
x[ab], i<a[c], y[cb]: x.{index_add(0, i, y)|index_fill(0, i, 3)|index_select(0, i)|clone().index_add_(0, i, y, alpha=2)}
x[*], m?[~]: {T.masked_fill(x, m, 2.0)|x.masked_select(m)|T.where(m, x, 0.0)|x * m|m.sum()|m.nonzero()|x.masked_fill(m, float('inf'))}
x[ab], y[bc]: {x @ y|T.mm(x, y)|T.einsum('ij,jk->ik', x, y)|T.einsum('ij,jk->k', x, y)|T.tensordot(x, y, 1)|T.matmul(x, y)}
x[*ab], y[*bc]: x @ y
x[zab], y[zbc], v[b]: {x @ y|x @ y[0]|x[0] @ y|x[:, None] @ y|x @ v|v @ y|x[0] @ v|v @ y[0]|v @ v|x[..., :0] @ y[:, :0]|x[:, :0] @ y[0]|x.transpose(1, 2) @ x|x[0] @ y[0] @ y[0].t()}
x[ab], y[bc], v[b]: {x.mv(v)|T.vdot(v, v)|T.vdot(v[:0], v[:0])|T.kron(x, y)|v.kron(y)|x.trace() * T.trace(y)}
x[zab], y[zbc], v[zac]: {T.bmm(x, y)|T.baddbmm(v, x, y, beta=0.5)|T.einsum('bij,bjk->bik', x, y)|v + T.bmm(x, y)}
x[ab], y[b], v[a]: {x @ y|T.mv(x, y)|T.addmv(v, x, y)|T.outer(y, v)|v @ x|T.kron(x, y)|T.dot(y, y)|T.einsum('ij,j->i', x, y)}
x[ab], y[ac], v[bc]: {T.addmm(v, x.t(), y, beta={1|0.5}, alpha=2)|T.einsum('ij,ik->jk', x, y)}
x[*c], y[~]: {T.linalg.cross(x, y)|F.cosine_similarity(x, y, -1)|F.pairwise_distance(x, y)|T.dist(x, y)} w c=3
x[ca], y[c1]: {T.cross(x, y, dim=0)|x.cross(x.flip(0), 0)} w c=3
x[ac], y[bc]: T.cdist(x, y, {2.0|1.0|3.0|inf})
xd[aa]: {L.inv(x)|L.det(x)|L.slogdet(x)|L.matrix_power(x, 2)|L.cond(x)|L.pinv(x)|T.linalg.matrix_rank(x)|L.matrix_norm(x)}
xs[aa], yd[ab]: {L.solve(x, y)|L.cholesky(x)|L.inv(x)|T.logdet(x)|L.eigvalsh(x)|L.eigh(x)[0]|T.cholesky_solve(y, L.cholesky(x))}
xd[ab]: {L.svdvals(x)|L.qr(x)[1].abs()|L.norm(x)|L.svd(x, False)[1]|L.matrix_norm(x, 'nuc')|L.vector_norm(x, 3)|L.norm(x, 2)}
xs[aa], yd[ab]: T.linalg.solve_triangular(x, y, upper={True|False})
x[zca]: F.{max_pool1d|avg_pool1d}(x, {1|2}, {1|2|None})
x+[zca]: F.lp_pool1d(x, {2.0|3.0}, {1|2}, {1|2|None})
x+[zchw]: F.lp_pool2d(x, {2.0|3.0}, {1|2|(2, 1)}, {1|2|None}, {True|False})
x!+[zchw]: F.{max_pool2d|avg_pool2d}(x, {1|2|(2, 1)}, {1|2|None}, padding={0|0|1})
x!+[zchw]: F.{adaptive_avg_pool2d|adaptive_max_pool2d}(x, {1|2|(1, 2)|(None, 1)})
x[zca], w[bck]: F.conv1d(x, w, T.ones(b, dtype=x.dtype), {1|2}, {0|1|2|'same'|'valid'}, {1|2})
x[zchw], w[bckl], v[b]: F.conv2d(x, w, {v|None}, {1|2|(1, 2)}, {0|1|(2, 1)}, {1|2})
x[zchw], w[c1kl]: F.conv2d(x, w, None, {1|2}, {0|1}, 1, groups=c)
x[zchw], w[cbkl], v[b]: F.conv_transpose2d(x, w, {v|None}, {1, {0|1}, 0|2, {0|1}, {0|1}}, 1, {1|2})
x[zcdhw], w[bckkk]: F.conv3d(x, w, None, {1|2}, {0|1})
x[zchw]: F.unfold(x, {1|2}, {1|2}, {0|1}, {1|2})
x[zchw]: F.interpolate(x, {size=|scale_factor=}{2|3}, mode={'nearest'|'bilinear'|'bicubic'|'area'|'nearest-exact'})
x[zchw]: F.interpolate(x, scale_factor={1.3|0.7|2.5}, mode='bilinear', align_corners={True|False})
x[zchw]: F.pad(x, ({0..2}, {0..2}, {0..2}, {0..2}), {'constant'|'reflect'|'replicate'|'circular'})
x[zchw]: F.pad(x, ({-1..2}, {0..2}, {0..2}, {-1..2}), {'constant'|'replicate'}, )
x[zch]: F.pad(x, ({0..3}, {0..1}), {'reflect'|'replicate'|'circular'})
x[zchw]: F.pad(x[0], ({0..1}, {-1..1}, {0..1}, {-1..2}), {'reflect'|'replicate'})
x[zcdhw]: F.pad(x, ({0..1}, {0..1}, {0..2}, 0, {0..1}, 0), {'reflect'|'replicate'|'circular'})
x[zchw]: F.pixel_shuffle(T.cat([x] * 4, 1), 2)
x[zch], w[h], v[h]: F.layer_norm(x, (h,), {w|None}, {v|None}, {1e-5|0.1})
x[zch], w[c], v[c]: F.batch_norm(x, {w.detach() * 0, v.detach() ** 2|None, None}, w, v, training={True|False}, momentum={0.1|0.5})
x[zch], w[c], v[c]: F.{group_norm(x, c, w, v)|instance_norm(x)|rms_norm(x, (h,))|local_response_norm(x, 2)|group_norm(x, 1, w, v)}
x[zah], k[zbh], v[zbc]: F.scaled_dot_product_attention(x, k, v, is_causal={True|False})
x[*c], w[bc], v[b]: F.linear(x, w, {v|None})
x[zb], y[zb]: F.{mse_loss|l1_loss|smooth_l1_loss|huber_loss|kl_div|soft_margin_loss|poisson_nll_loss}(x, y.detach(), reduction={'mean'|'sum'|'none'})
x[zb], y[zb]: F.{kl_div(x, y, log_target=True|poisson_nll_loss(x.abs() + 1, y.abs(), log_input=False, full=True|gaussian_nll_loss(x, y, 2.0, full=True}, reduction={'mean'|'sum'|'none'})
x[zb], y[zb]: F.{smooth_l1_loss(x, y, beta=0.5|huber_loss(x, y, delta=0.7|huber_loss(x, y, delta=2.0|multilabel_soft_margin_loss(x, (y > 0).to(x.dtype)}, reduction={'mean'|'sum'|'none'})
x[z], y[z]: F.{hinge_embedding_loss(x, y.sign()|margin_ranking_loss(x, x.flip(0), y.sign(), margin=0.5}, reduction={'mean'|'sum'|'none'})
x[zb], y[zb], v[zb]: F.{triplet_margin_loss(x, y, v, p=3, margin=2.0, swap=True|cosine_embedding_loss(x, y, v[:, 0].sign().detach(), margin=0.3}, reduction={'mean'|'sum'|'none'})
x[zb], y-[zb]: F.binary_cross_entropy{_with_logits(x, |(x.sigmoid(), }y.detach().abs(), reduction={'mean'|'sum'|'none'})
x[zb], i<b[z], w+[b]: F.cross_entropy(x, i, {w.detach()|None}, label_smoothing={0.0|0.1}, reduction={'mean'|'sum'|'none'})
x[zbh], i<b[zh]: F.{cross_entropy|nll_loss}(x, i, ignore_index={-100|0}, reduction={'mean'|'sum'|'none'})
x[zb], y[zb], v[zb]: {F.triplet_margin_loss(x, y, v)|F.cosine_embedding_loss(x, y, T.ones(z))|F.gaussian_nll_loss(x, y, v ** 2 + 0.1)}
w[ab], i<a[cd]: {F.embedding(i, w)|F.embedding(i, w, padding_idx=0)|F.one_hot(i, a)|w[i].sum(1)}
x[]: T.{arange({0..3}, {4..7}, {1|2|0.5})|linspace(-1, {1..3}, {0..5})|eye({0..3}, {1..4})|full((2, 3), x)|logspace(0, 1, 3)} + x
x[*]: {T.zeros_like(x)|T.full_like(x, 3)|x.new_ones(2)|x.new_zeros((1, 2))|T.empty_like(x).fill_(1)|x.detach()|T.atleast_2d(x)} + 1
x[a], y[b]: T.{meshgrid(x, y, indexing={'ij'|'xy'})|outer(x, y)|searchsorted(x.sort()[0], y)|bucketize(y, x.sort()[0])}
"""
