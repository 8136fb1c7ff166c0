# SPDX-License-Identifier: Apache-2.0
"""The Grafana dashboards, from the catalogues of metrics: `make dashboards` writes config/grafana/dashboards."""
