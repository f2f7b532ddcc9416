package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"

	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/sqlqueue"
	_ "modernc.org/sqlite"
)

func upper(ctx context.Context, input []byte) ([]byte, error) { return bytes.ToUpper(input), nil }

func main() {
	ctx, jobs := context.Background(), queue.Batch("upper", []byte("anna"), []byte("bob"))
	db, err := sql.Open("sqlite", os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	// from here
	q, err := sqlqueue.Open(ctx, db, "default")
	if err != nil {
		log.Fatal(err)
	}
	go queue.Worker{Slots: 4}.Run(ctx, q, map[string]queue.Handler{"upper": upper})
	copies := map[string]queue.Kind{"upper": {Copies: true}}
	results, err := q.Run(ctx, "names", jobs, queue.Options{Kinds: copies})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println(string(r.Output))
	}
	// to here
}
