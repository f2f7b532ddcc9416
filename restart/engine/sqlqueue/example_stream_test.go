package sqlqueue_test

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/straggler-go/straggler/restart/engine/queue"
	"github.com/straggler-go/straggler/restart/engine/sqlqueue"
)

// A single job is inserted in a transaction, together with a table of the program's own. On SQLite such a transaction
// must lock the database at its begin, and wait for other writers: the parameters of the address say so.
func ExampleQueue_Insert() {
	dir, _ := os.MkdirTemp("", "jobs")
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", filepath.Join(dir, "jobs.db")+"?_pragma=busy_timeout(10000)&_txlock=immediate")
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
	send := func(ctx context.Context, letter []byte) ([]byte, error) {
		return fmt.Append(nil, "sent to ", string(letter), ", not twice under the key ", len(queue.Key(ctx)) > 0), nil
	}
	go queue.Worker{Name: "a"}.Run(ctx, q, map[string]queue.Handler{"mail": send})
	go queue.Serve(ctx, q, queue.Options{})

	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE customer (name text)"); err != nil {
		log.Fatal(err)
	}
	ids, err := q.Insert(ctx, tx, sqlqueue.Job{Kind: "mail", Input: []byte("anna")})
	if err != nil {
		log.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		log.Fatal(err)
	}
	for {
		if r, ended, err := q.Result(ctx, ids[0]); err != nil || ended {
			fmt.Println(string(r.Output), err)
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	// Output: sent to anna, not twice under the key true <nil>
}
