package servers

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

// Postgres is a Postgres server with a new database.
type Postgres struct {
	// URL is the address of the database.
	URL        string
	dir, port  string
	binaries   string
	attributes *syscall.SysProcAttr
	process    *exec.Cmd
}

// StartPostgres starts a Postgres with a new database. Call Stop when it is no longer needed. As root it runs as the
// user postgres.
func StartPostgres() (s *Postgres, err error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w: apt-get install postgresql", ErrMissing)
	}
	s = &Postgres{binaries: filepath.Dir(found[0]), attributes: &syscall.SysProcAttr{Setpgid: true}}
	if s.dir, err = os.MkdirTemp("", "postgres"); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 { // Postgres refuses to run as root
		u, err := user.Lookup("postgres")
		if err != nil {
			return nil, err
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		s.attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		if err := os.Chown(s.dir, uid, gid); err != nil {
			return nil, err
		}
	}
	initdb := s.command("initdb", "-D", "data", "-U", "postgres", "--auth=trust", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("servers: initdb: %w: %s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	_, s.port, _ = net.SplitHostPort(l.Addr().String())
	_ = l.Close()
	s.URL = fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable", s.port)
	return s, s.Start()
}

func (s *Postgres) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(filepath.Join(s.binaries, name), args...)
	c.Dir, c.SysProcAttr = s.dir, s.attributes
	return c
}

// Start starts a server that has crashed again, with its data.
func (s *Postgres) Start() error {
	s.process = s.command("postgres", "-D", "data", "-p", s.port, "-k", s.dir, "-h", "127.0.0.1", "-c", "max_connections=200")
	if err := s.process.Start(); err != nil {
		return err
	}
	for deadline := time.Now().Add(within); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if s.command("pg_isready", "-h", "127.0.0.1", "-p", s.port).Run() == nil {
			return nil
		}
	}
	return fmt.Errorf("servers: Postgres does not answer after %v", within)
}

// Crash stops the server as a crash does.
func (s *Postgres) Crash() {
	_ = s.process.Process.Signal(syscall.SIGQUIT)
	_ = s.process.Wait()
}

// Stop stops the server, and deletes its data.
func (s *Postgres) Stop() {
	s.Crash()
	_ = os.RemoveAll(s.dir)
}
