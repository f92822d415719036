"""Prints src/zeta_family/fits.rs: Bernoulli numbers over factorials, and the power of the f32 zeta function."""

from mpmath import mpf, bernoulli, factorial, log
from fit import polynomial, head, literal, nearest, SINGLE

head("The zeta function", "zeta.py")
values = [bernoulli(2 * j) / factorial(2 * j) for j in range(1, 13)]
print("/// `B(2 j) / (2 j)!` from j = 1 on.")
print(f"pub(crate) const BERNOULLI: [f64; {len(values)}] = [{', '.join(repr(float(v)) for v in values)}];")
