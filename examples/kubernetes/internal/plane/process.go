package plane

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Process is this program, started again as something else. It does not outlive this one.
type Process struct{ cmd *exec.Cmd }

// Spawn starts this program again with arguments, of which the first says as what; its log is in the directory, by that
// name.
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

// Kill ends the process at once, and returns when it has ended.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
}
