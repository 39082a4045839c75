"""Models behind any endpoint that speaks the OpenAI protocol: embeddings and chat, over HTTP."""

from penstock.engines.openai.answerer import EndpointAnswerer
from penstock.engines.openai.embedder import EndpointEmbedder, endpoint_model
from penstock.engines.openai.endpoint import Endpoint, Role

__all__ = ["Endpoint", "EndpointAnswerer", "EndpointEmbedder", "Role", "endpoint_model"]
