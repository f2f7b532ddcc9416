package plane

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Process is a further process of this program, which runs another part. It ends when this process ends.
type Process struct{ cmd *exec.Cmd }

// Spawn starts this program again with the arguments. The first argument is the part to run, and the name of its log
// in the directory.
func Spawn(dir string, args ...string) (*Process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(dir, args[0]+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	c := exec.Command(self, args...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return &Process{c}, c.Start()
}

// Kill kills the process and waits for its end.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // the process may have ended
	_ = p.cmd.Wait()
}
