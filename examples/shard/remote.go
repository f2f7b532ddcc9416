package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

// remote is a queue of a server.
type remote struct {
	url, token      string
	pause, patience time.Duration // before the first repetition of a request, and how long a server may be away
	log             io.Writer     // gets a line when a server is away
}

const (
	usualPatience = 10 * time.Minute
	usualPause    = 100 * time.Millisecond // it doubles with each repetition
	longestPause  = 5 * time.Second
)

func newRemote(url string) *remote {
	return &remote{url: url, token: os.Getenv(tokenName), pause: usualPause, patience: usualPatience, log: os.Stderr}
}

// isRemote reports whether a queue or a history is kept by a server.
func isRemote(where string) bool {
	return strings.HasPrefix(where, "http://") || strings.HasPrefix(where, "https://")
}

// ask posts a request of a machine.
func (c *remote) ask(ctx context.Context, r shardqueue.Request) (answer shardqueue.Answer, err error) {
	body, err := json.Marshal(r)
	if err == nil {
		_, err = c.send(ctx, http.MethodPost, body, func(text []byte) error { return json.Unmarshal(text, &answer) })
	}
	return answer, err
}

// send sends a request and reads the answer. While the server is away, it repeats the request.
func (c *remote) send(
	ctx context.Context, method string, body []byte, read func([]byte) error,
) (header http.Header, err error) {
	for end, pause := time.Now().Add(c.patience), c.pause; ; pause = min(2*pause, longestPause) {
		text, header, final, err := c.do(ctx, method, body)
		if err == nil {
			if err = read(text); err == nil {
				return header, nil
			}
			err = fmt.Errorf("%s is no server of shard: %w", c.url, err)
		}
		if final || ctx.Err() != nil || time.Now().After(end) {
			return nil, err
		}
		if pause == c.pause {
			fmt.Fprintf(c.log, "shard: %v; this machine asks again for %v\n", err, c.patience)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// do sends one request. final means that a repetition has the same answer.
func (c *remote) do(
	ctx context.Context, method string, body []byte,
) (text []byte, header http.Header, final bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, true, err
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, false, err
	}
	defer a.Body.Close()
	text, err = io.ReadAll(io.LimitReader(a.Body, mostRequest))
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", c.url, a.Status, strings.TrimSpace(string(text)))
	}
	return text, a.Header, a.StatusCode >= 400 && a.StatusCode < 500, err
}

func (c *remote) status(ctx context.Context) (string, bool, error) {
	text, header, _, err := c.do(ctx, http.MethodGet, nil)
	return string(text), err == nil && header.Get(passedHeader) == "true", err
}

// desk is where machines draw: a directory or a server.
type desk interface {
	ask(context.Context, shardqueue.Request) (shardqueue.Answer, error)
	status(context.Context) (text string, passed bool, err error)
}

// openDesk returns the queue of the option -queue. It makes a directory that is missing only if fill is set.
func openDesk(where string, fill bool) (desk, error) {
	switch {
	case where == "":
		return nil, usage("-queue is empty, want a directory that the machines share, or http://HOST:7077/RUN")
	case isRemote(where):
		return newRemote(where), nil
	case fill:
		return openFolder(where)
	}
	_, err := os.Stat(where)
	return &folder{dir: where}, err
}

// status is the command status, which shows the state of a queue. Its exit code is 0 if all tests have been run and
// have passed.
func status(ctx context.Context, args []string, s streams) error {
	f := s.flags("status", "")
	where := f.String("queue", "", "the `queue`: a directory, or http://HOST:7077/RUN")
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usage("status takes no arguments, but the command line has %q", f.Arg(0))
	}
	at, err := openDesk(*where, false)
	if err != nil {
		return err
	}
	text, passed, err := at.status(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(s.out, text)
	if !passed {
		return errFailed
	}
	return nil
}
