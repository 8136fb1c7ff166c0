# SPDX-License-Identifier: Apache-2.0
"""The web configuration file, in the format of Prometheus' own exporters: TLS, users, headers, a limit of requests."""
