package main

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/straggler-go/straggler/examples/shard/internal/shardqueue"
)

// server answers machines over HTTP. Each run of a suite is a queue, with a file of events in the directory. A machine
// posts its requests to /RUN. GET /RUN shows the state of the queue. The server keeps histories, too: a machine gets
// /NAME.shard before a run, and posts its times there after the run.
type server struct {
	dir, token string

	mu     sync.Mutex
	queues map[string]*eventLog
}

// mostRequest is the size of the largest request, in bytes: a million pieces with long names.
const mostRequest = 256 << 20

// tokenName is the variable of the environment with the token. A token in the command line would be in the list of
// processes.
const tokenName = "SHARD_TOKEN"

// serve is the command serve.
func serve(ctx context.Context, args []string, s streams) error {
	f := s.flags("serve", "")
	address := f.String("listen", "127.0.0.1:7077",
		"the `address` on which to listen; an address that other machines reach needs a token in $"+tokenName)
	dir := f.String("state", ".shard-queues", "the `directory` with a file for each queue")
	if err := parse(f, args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return usage("serve takes no arguments, but the command line has %q", f.Arg(0))
	}
	token := os.Getenv(tokenName)
	listen, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	defer listen.Close()
	if at, ok := listen.Addr().(*net.TCPAddr); token == "" && !(ok && at.IP.IsLoopback()) {
		return usage("-listen is %q, which other machines reach: set a token in $%s", *address, tokenName)
	}
	if err := os.MkdirAll(*dir, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(*dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := lockFile(lock, false); err != nil {
		return fmt.Errorf("another server has the directory %s: %w", *dir, err)
	}
	host := &http.Server{
		Handler:           &server{dir: *dir, token: token, queues: map[string]*eventLog{}},
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 5 * time.Minute, WriteTimeout: 5 * time.Minute,
		IdleTimeout: 5 * time.Minute,
	}
	stop := context.AfterFunc(ctx, func() { _ = host.Close() })
	defer stop()
	fmt.Fprintf(s.out, "listening on http://%s\n", listen.Addr())
	if err := host.Serve(listen); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// ServeHTTP answers a request. An answer that is no JSON is an error in plain text.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if said, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); s.token != "" &&
		(!ok || subtle.ConstantTimeCompare([]byte(said), []byte(s.token)) != 1) {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "the token is missing or wrong: set $"+tokenName+" as for the server", http.StatusUnauthorized)
		return
	}
	run := strings.TrimPrefix(r.URL.Path, "/")
	if err := shardqueue.CheckName(run); err != nil {
		http.Error(w, err.Error()+": the path is the name of a run, such as /build-17", http.StatusNotFound)
		return
	}
	history := strings.HasSuffix(run, historyEnd)
	switch {
	case r.Method == http.MethodGet && history:
		s.times(w, run)
	case r.Method == http.MethodPost && history:
		s.learn(w, r, run)
	case r.Method == http.MethodGet:
		s.show(w, run)
	case r.Method == http.MethodPost:
		s.answer(w, r, run)
	default:
		w.Header().Set("Allow", "GET, POST")
		http.Error(w, "the method is "+r.Method+", want GET or POST", http.StatusMethodNotAllowed)
	}
}

func (s *server) answer(w http.ResponseWriter, r *http.Request, run string) {
	var asked shardqueue.Request
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostRequest))
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil {
		http.Error(w, "the body is no request of a machine: "+err.Error(), http.StatusBadRequest)
		return
	}
	l, err := s.open(run, asked.Op == shardqueue.Join && asked.Config != nil)
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	answer := shardqueue.Answer{Closed: true}
	if l != nil {
		if answer, err = l.ask(time.Now(), asked); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer) // a machine that does not get the answer asks again
}

func (s *server) show(w http.ResponseWriter, run string) {
	l, err := s.open(run, false)
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusConflict)
	case l == nil:
		http.Error(w, "there is no run "+run, http.StatusNotFound)
	default:
		text, passed := l.status(time.Now())
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set(passedHeader, fmt.Sprint(passed))
		fmt.Fprint(w, text)
	}
}

// historyEnd is the end of the name of a history.
const historyEnd = ".shard"

// times answers with a history.
func (s *server) times(w http.ResponseWriter, name string) {
	h := newHistory()
	s.mu.Lock()
	err := h.merge(filepath.Join(s.dir, name))
	s.mu.Unlock() // a machine may read slowly
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_ = h.write(w) // a machine that does not get the answer asks again
}

// learn merges the history of a machine into a history.
func (s *server) learn(w http.ResponseWriter, r *http.Request, name string) {
	h := newHistory()
	if err := h.read(http.MaxBytesReader(w, r.Body, mostRequest)); err != nil {
		http.Error(w, "the body is no history: "+err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := h.save(r.Context(), filepath.Join(s.dir, name)); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// passedHeader says whether all pieces of a queue have been run and have passed.
const passedHeader = "Shard-Passed"

// open returns the queue of a run. It returns nil if there is none and none is to be made.
func (s *server) open(run string, make bool) (*eventLog, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.queues[run]; l != nil {
		return l, nil
	}
	path := filepath.Join(s.dir, run+".log")
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) && !make {
		return nil, nil
	}
	s.forget(time.Now().Add(-keepQueue))
	l, err := openLog(path, time.Now())
	if err == nil {
		err = syncDir(s.dir)
	}
	if err == nil {
		s.queues[run] = l
	}
	return l, err
}

// keepQueue is the age at which the file of a queue is removed, counted from its last event.
const keepQueue = 7 * 24 * time.Hour

// forget removes the queues whose last event is older than a time.
func (s *server) forget(than time.Time) {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.log"))
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && info.ModTime().Before(than) {
			run := strings.TrimSuffix(filepath.Base(file), ".log")
			if l := s.queues[run]; l != nil {
				l.file.Close()
				delete(s.queues, run)
			}
			_ = os.Remove(file)
		}
	}
}

// syncDir stores the names of the files of a directory on disk.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
