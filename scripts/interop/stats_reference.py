#!/usr/bin/env python3
"""Values of scipy and statsmodels that internal/stats is held to.

  stats_reference.py > internal/stats/testdata/reference.json

Needs scipy and statsmodels (made with 1.17 and 0.15).
"""
import json

from scipy import integrate, stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

WILSON = [(0, 1), (1, 1), (50, 68), (57, 101), (0, 1888), (1888, 1888), (1204, 1888), (7, 4000)]
TAILS = [(30, 100, .25), (600, 1888, .3), (1888, 1888, .9), (25, 30, .3), (1, 5000, .001), (99, 200, .3)]
FLIPS = [(60, 40), (70, 45), (0, 0), (1, 0), (12, 3), (300, 310), (6, 0)]
HOLM = [[.01, .04, .03, .005], [.5], [.2, .2, .9], [.001, .001, .049, .05, .06, .8]]

out = {
    "wilson": [[k, n, *map(float, proportion_confint(k, n, method="wilson"))] for k, n in WILSON],
    "binomial_tail": [[k, n, p, float(stats.binom.sf(k - 1, n, p))] for k, n, p in TAILS],
    "mcnemar": [[b, c, float(mcnemar([[0, b], [c, 0]], exact=True).pvalue) if b + c else 1.0] for b, c in FLIPS],
    "holm": [{"p": p, "adjusted": [float(x) for x in multipletests(p, method="holm")[1]]} for p in HOLM],
    "chi_square": [[x, df, float(stats.chi2.sf(x, df))] for x, df in [(3.84, 1), (7.8, 3), (0.2, 3), (60, 3), (12, 7), (250, 200)]],
    "student": [[p, df, float(stats.t.ppf(p, df))] for p in (.975, .9, .999) for df in (1, 2, 5, 11, 30, 500)],
    "expected_max": [[k, float(integrate.quad(lambda x: x * k * stats.norm.pdf(x) * stats.norm.cdf(x) ** (k - 1), -12, 12)[0])]
                     for k in (1, 2, 3, 5, 10, 20, 100)],
}
print(json.dumps(out, indent=1))
