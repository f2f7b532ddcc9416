package main

import (
	"context"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := keepCluster(ctx, os.Args[1]); err != nil {
		println(err.Error())
	}
}
