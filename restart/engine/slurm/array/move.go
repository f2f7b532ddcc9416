package array

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// moveResults moves the result files of an attempt, its symbolic links and its directories to the directory whose
// path is the argument to. It does not move anything else, such as a pipe. It returns the paths of the things that it
// did not move.
func (d *runDir) moveResults(attempt, to string) (left []string, err error) {
	from := d.file(attempt, "out")
	err = filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == from {
			return nil
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch e.Type() {
		case fs.ModeDir:
			return os.MkdirAll(target, 0o777)
		case fs.ModeSymlink:
			return moveLink(path, target, from, to)
		case 0:
			return move(path, target)
		}
		left = append(left, path)
		return nil
	})
	return left, err
}

// moveLink moves a symbolic link from path to target. The new link points to the same path as the old link, even if
// no file is there. There is one exception. The old link may be an absolute path into the result directory, whose
// path is the argument from. Then the new link points to the moved file, below the path in the argument to.
func moveLink(path, target, from, to string) error {
	leads, err := os.Readlink(path)
	if err != nil {
		return err
	}
	if rest, within := strings.CutPrefix(leads, from); within && (rest == "" || rest[0] == filepath.Separator) {
		if to, err = filepath.Abs(to); err != nil {
			return err
		}
		leads = to + rest
	}
	if err := replaceFile(target, func(temp string) error { return os.Symlink(leads, temp) }); err != nil {
		return err
	}
	return os.Remove(path)
}

// move moves a file by renaming it. If the two paths are on different file systems, move copies the file to a
// temporary name beside to, renames the copy, and removes the old file.
func move(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if err := replaceFile(to, func(temp string) error { return copyFile(from, temp) }); err != nil {
		return err
	}
	return os.Remove(from)
}

// replaceFile puts a new file at the path place. It calls create to make the file under a temporary name in the same
// directory, and renames the file. So a reader finds the complete old file or the complete new file.
func replaceFile(place string, create func(temp string) error) error {
	aside, err := os.MkdirTemp(filepath.Dir(place), ".straggler-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(aside)
	temp := filepath.Join(aside, "new")
	if err := create(temp); err != nil {
		return err
	}
	return os.Rename(temp, place)
}

// copyFile copies a regular file, with its permissions and its modification time.
func copyFile(from, to string) error {
	source, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file, but %v", from, info.Mode().Type())
	}
	target, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Chmod(info.Mode().Perm()), target.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}
