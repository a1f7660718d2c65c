"""Templates that a request specifies by URL."""

from __future__ import annotations

from oslo_config import cfg

from stoker.api.serving.workers import waiting
from stoker.base.context import RequestContext
from stoker.base.fetching import FetchLimits, fetch_text


def template_at(url: str, config: cfg.ConfigOpts, context: RequestContext) -> str:
    """Return the content of `url`, without using a turn of the server. Raises the errors of `fetch_text`."""
    limits = FetchLimits(
        size=config.max_template_size,
        seconds=config.template_fetch_timeout,
        networks=config.template_fetch_networks,
        per_project=config.template_fetches_per_project,
    )
    fetched = fetch_text(url, context.project_id, limits)
    with waiting():
        return fetched.result()
