"""GENERATE: from a code fragment to an example, by a model or without any; CodeBenchGen, https://arxiv.org/abs/2404.00566."""
