package sqlqueue_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite"

	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/sqlqueue"
)

// A batch of three jobs on an embedded SQLite. A program with Postgres differs in the first line alone.
func Example() {
	dir, _ := os.MkdirTemp("", "jobs")
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "jobs.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()

	q, err := sqlqueue.Open(ctx, db, "default")
	if err != nil {
		log.Fatal(err)
	}
	upper := func(ctx context.Context, input []byte) ([]byte, error) { return bytes.ToUpper(input), nil }
	go queue.Worker{Name: "a", Slots: 2}.Run(ctx, q, map[string]queue.Handler{"upper": upper})

	jobs := queue.Batch("upper", []byte("anna"), []byte("bob"), []byte("cleo"))
	results, err := q.Run(ctx, "names", jobs, queue.Options{Kinds: map[string]queue.Kind{"upper": {Copies: true}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, r := range results {
		fmt.Println(string(r.Output))
	}
	// Output:
	// ANNA
	// BOB
	// CLEO
}
