package queuetest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Postgres starts a Postgres server of its own for a test, and returns its address as a URL. restart stops the server
// as a crash does, and starts it again. If the machine has no Postgres, the test is skipped. Debian's package is named
// postgresql.
func Postgres(t *testing.T) (url string, restart func()) {
	t.Helper()
	binary := func(name string) string {
		found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + name)
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
		if len(found) == 0 {
			t.Skipf("%s is not installed: apt-get install postgresql", name)
		}
		return found[0]
	}
	initdb, server, ready := binary("initdb"), binary("postgres"), binary("pg_isready")
	dir, err := os.MkdirTemp("", "postgres")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	attributes := &syscall.SysProcAttr{Setpgid: true}
	if os.Geteuid() == 0 { // Postgres refuses to run as root
		u, err := user.Lookup("postgres")
		require.NoError(t, err)
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		attributes.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		require.NoError(t, os.Chown(dir, uid, gid))
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir, c.SysProcAttr = dir, attributes
		return c
	}
	data := filepath.Join(dir, "data")
	out, err := command(initdb, "-D", data, "-U", "postgres", "--auth=trust", "--no-sync").CombinedOutput()
	require.NoError(t, err, "%s", out)
	port := freePort(t)
	var running *exec.Cmd
	start := func() {
		running = command(server, "-D", data, "-p", port, "-k", dir, "-h", "127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200")
		require.NoError(t, running.Start())
		require.Eventually(t, func() bool {
			return exec.CommandContext(context.Background(), ready, "-h", "127.0.0.1", "-p", port).Run() == nil
		}, within, interval)
	}
	stop := func() {
		_ = running.Process.Signal(syscall.SIGQUIT) // at once, as a crash
		_ = running.Wait()
	}
	start()
	t.Cleanup(func() { stop() })
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%s/postgres?sslmode=disable", port), func() { stop(); start() }
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
