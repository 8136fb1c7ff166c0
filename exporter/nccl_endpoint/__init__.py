# SPDX-License-Identifier: Apache-2.0
"""An HTTP server of a few pages, protected by a web configuration file in the format of Prometheus' own exporters.

The exporter and the daemon serve with it; it knows neither.
"""
