"""
A grid search in a pipeline
===========================

**You learn** to use PTU as one step of a model, and to let cross-validation choose its
parameters.

A roll in space, and a quantity that is simple along the roll and not in space.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from ptunfold import PTU
from ptunfold.datasets import swiss_roll

data = swiss_roll(800, hole=0.4, noise=0.01)
rng = np.random.default_rng(0)
along, across = data.coordinates.T
target = np.cos(4 * np.pi * along / np.ptp(along)) + np.square(across / np.ptp(across))
target += rng.normal(0, 0.05, len(target))
X, X_test, y, y_test = train_test_split(data.points, target, random_state=0)

# %%
# Fitted on the training points alone; test points are placed by ``transform``.

pipeline = make_pipeline(PTU(n_jobs=1), StandardScaler(), PolynomialFeatures(8), LinearRegression())
search = GridSearchCV(
    pipeline,
    {"ptu__n_neighbors": ["auto", 6, 40], "polynomialfeatures__degree": [4, 8]},
    cv=3,
).fit(X, y)
print(search.best_params_)
print(f"R² on new points: {search.score(X_test, y_test):.3f}")
plain = make_pipeline(StandardScaler(), PolynomialFeatures(8), LinearRegression()).fit(X, y)
print(f"the same regression in space: {plain.score(X_test, y_test):.3f}")

# %%
# What each choice came to:

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
results = search.cv_results_
names = [
    f"{one['ptu__n_neighbors']} neighbours, degree {one['polynomialfeatures__degree']}"
    for one in results["params"]
]
ax.barh(names, results["mean_test_score"], xerr=results["std_test_score"], color="#0072b2")
ax.set(xlabel="R² in cross-validation", xlim=(0, 1.05))
ax.invert_yaxis()

# %%
# **Where PTU is not the tool:** if only the prediction counts, forests or boosting on the raw
# points do as well and need no manifold. A grid over parameters of PTU is seldom needed: "auto"
# looks at the data, and cross-validation by neighbours in the picture rewards clusters, not true
# distances.
