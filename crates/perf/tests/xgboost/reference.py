"""Writes `table.csv.gz`, simulated latencies of a tiled product, and `figures.json`, XGBoost's errors on them.

    python3 -m venv venv && venv/bin/pip install xgboost==3.2.0 numpy && venv/bin/python reference.py

The simulation is this file's own: nothing of the crate's features is in it, so that the comparison is of learners alone.
A row: the fold, the group (a problem), twelve features, ln of the time per roofline.
"""

import gzip
import io
import json
import math
import random

import numpy
import xgboost

FOLDS = 5
ROUNDS = 300
PARAMETERS = {
    "max_depth": 6,
    "eta": 0.1,
    "subsample": 0.8,
    "colsample_bytree": 0.9,
    "lambda": 1.0,
    "min_child_weight": 2,
    "max_bin": 255,
    "tree_method": "hist",
}


def row(chance, m, n, k, tile_m, tile_n, stages, split):
    """Features and target of one configuration for one problem."""
    tiles = math.ceil(m / tile_m) * math.ceil(n / tile_n) * split
    shared = (tile_m + tile_n) * 64 * stages
    per_processor = max(1, min(8, 230_000 // shared))
    slots = 132 * per_processor
    waves = math.ceil(tiles / slots)
    useful = m * n / (math.ceil(m / tile_m) * tile_m * math.ceil(n / tile_n) * tile_n)
    steps = math.ceil(k / split / 32)
    compute = 2 * m * n * k / 700e6
    memory = 2 * (m * k + k * n + m * n) / 4.3e6
    roofline = max(compute, memory, 2.4)
    step = 0.08 + tile_m * tile_n / 41_000 * per_processor
    latency = 0.7 / min(1, stages * (tile_m + tile_n) * 64 * per_processor / 30_000)
    reduction = 0 if split == 1 else 1.2 + 4 * split * m * n / 4.3e6
    time = 2.4 + waves * (latency + steps * step) + reduction
    time = max(time, 1.08 * roofline) * math.exp(chance.gauss(0, 0.03))
    features = [
        math.log(m), math.log(n), math.log(k), math.log(tile_m), math.log(tile_n), stages, split,
        math.log(tiles / slots), tiles / slots / waves, useful, math.log(steps), math.log(roofline),
    ]
    return features, math.log(time / roofline)


def table():
    chance = random.Random(7)
    rows = []
    for group in range(240):
        m, n, k = (int(2 ** chance.uniform(low, 13)) for low in (3, 6, 6))
        for _ in range(20):
            sizes = [chance.choice([32, 64, 128, 256]) for _ in range(2)]
            features, target = row(chance, m, n, k, *sizes, chance.choice([2, 3, 4]), chance.choice([1, 1, 2, 4]))
            rows.append([group % FOLDS, group] + [f"{x:.5g}" for x in features] + [f"{target:.5g}"])
    return rows


def figures(data):
    """Errors over all rows, each predicted by a fit that has not seen its fold."""
    fold, features, target = data[:, 0], data[:, 2:-1], data[:, -1]
    predicted = numpy.zeros(len(data))
    for held in range(FOLDS):
        known = fold != held
        predictions = []
        for seed in (1, 2, 3):
            matrix = xgboost.DMatrix(features[known], target[known])
            fit = xgboost.train(PARAMETERS | {"seed": seed}, matrix, ROUNDS)
            predictions.append(fit.predict(xgboost.DMatrix(features[~known])))
        # The mean error of three fits, not the error of their mean.
        predicted[~known] = numpy.mean([(p - target[~known]) ** 2 for p in predictions], axis=0)
    return {"xgboost": xgboost.__version__, "rounds": ROUNDS, "parameters": PARAMETERS, "rmse": float(numpy.sqrt(predicted.mean()))}


def main():
    text = "\n".join(",".join(str(cell) for cell in cells) for cells in table()) + "\n"
    with open("table.csv.gz", "wb") as file:
        file.write(gzip.compress(text.encode(), 9, mtime=0))
    data = numpy.loadtxt(io.StringIO(text), delimiter=",")
    with open("figures.json", "w", encoding="utf-8") as file:
        json.dump(figures(data), file, indent=2)
        file.write("\n")


if __name__ == "__main__":
    main()
