package main

import (
	"context"
	"log/slog"

	"countersign/db/embedded"
)

func benchPages(context.Context, *embedded.Cluster, *slog.Logger, []int, []string) error { return nil }
