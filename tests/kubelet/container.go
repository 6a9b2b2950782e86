// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// accountDir is where a kubelet mounts the token of a pod's account.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// tokenLife is the shortest that the API server allows.
const tokenLife = 10 * time.Minute

func unshared(command ...string) []string {
	return append([]string{"--uts", "--mount", "--pid", "--mount-proc", "--fork", "--kill-child"}, command...)
}

// volumeDir has all that is deleted with the pod.
func (k *Kubelet) volumeDir(p *pod) string {
	// Short: the path of a socket in it has at most 107 bytes.
	return k.Volumes(string(p.UID))
}

// mount creates the volumes of the pod, and returns the directory for each mount path.
func (k *Kubelet) mount(ctx context.Context, p *pod) (map[string]string, error) {
	volumes := map[string]string{}
	for _, volume := range p.Spec.Volumes {
		dir := filepath.Join(k.volumeDir(p), "e", volume.Name)
		switch {
		case volume.HostPath != nil:
			dir = volume.HostPath.Path
		case volume.PersistentVolumeClaim != nil:
			dir = k.Claim(p.Namespace, volume.PersistentVolumeClaim.ClaimName)
		case volume.Projected != nil:
			if err := k.project(ctx, p, volume.Projected, dir); err != nil {
				return nil, err
			}
		case volume.EmptyDir == nil:
			return nil, fmt.Errorf("volume %s is of a kind that is not known here", volume.Name)
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return nil, err
		}
		volumes[volume.Name] = dir
	}
	account := filepath.Join(k.volumeDir(p), "account")
	if err := os.MkdirAll(account, 0o755); err != nil {
		return nil, err
	}
	token, err := k.client.CoreV1().ServiceAccounts(p.Namespace).CreateToken(ctx, p.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{
			ExpirationSeconds: ptr.To(int64(tokenLife.Seconds())),
			BoundObjectRef:    &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, err
	}
	for name, text := range map[string][]byte{"token": []byte(token.Status.Token), "ca.crt": k.options.Config.CAData, "namespace": []byte(p.Namespace)} {
		if err := os.WriteFile(filepath.Join(account, name), text, 0o600); err != nil {
			return nil, err
		}
	}
	volumes[accountDir] = account
	return volumes, nil
}

// project writes the tokens of a projected volume. Unlike a kubelet, it does not renew them.
func (k *Kubelet) project(ctx context.Context, p *pod, volume *corev1.ProjectedVolumeSource, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, source := range volume.Sources {
		of := source.ServiceAccountToken
		if of == nil {
			return errors.New("a projected volume has a source of a kind that is not known here")
		}
		token, err := k.client.CoreV1().ServiceAccounts(p.Namespace).CreateToken(ctx, p.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{
				Audiences: []string{of.Audience}, ExpirationSeconds: of.ExpirationSeconds,
				BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: p.Name, UID: p.UID},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		k.mu.Lock()
		k.tokens[p.Namespace] = append(k.tokens[p.Namespace], token.Status.Token)
		k.mu.Unlock()
		if err := os.WriteFile(filepath.Join(dir, of.Path), []byte(token.Status.Token), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// unmount deletes the volumes of a pod whose containers have ended. Like a kubelet, it does not wait until the pod is deleted:
// each pod of a run has its own copy of the controller, of 100 MB, and its Job is kept.
func (k *Kubelet) unmount(p *pod) error { return os.RemoveAll(k.volumeDir(p)) }

// runContainer runs a container, and returns its exit code.
func (k *Kubelet) runContainer(ctx context.Context, p *pod, container corev1.Container, image Image, volumes map[string]string) int32 {
	places := map[string]string{accountDir: volumes[accountDir]}
	var readOnly []string
	for _, mount := range container.VolumeMounts {
		places[mount.MountPath] = volumes[mount.Name]
		if mount.ReadOnly {
			readOnly = append(readOnly, volumes[mount.Name])
		}
	}
	command := container.Command
	if len(command) == 0 {
		command = image.Entrypoint
	}
	command = append(slices.Clone(command), container.Args...)
	for i, word := range command {
		command[i] = placed(word, places)
	}
	log, err := os.OpenFile(k.Log(string(p.UID)), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return 128
	}
	defer func() { _ = log.Close() }()
	host := p.Spec.Hostname
	if host == "" {
		host = p.Name
	}
	// The first process of a PID namespace ignores SIGTERM unless it handles it, and on a busy machine the shell may live for seconds.
	const script = `trap "exit 143" TERM; echo "$0" > /proc/sys/kernel/hostname || exit
while [ "$1" != -- ]; do mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift || exit; done; shift; exec "$@"`
	inside := slices.Concat([]string{"/bin/sh", "-c", script, host}, readOnly, []string{"--"}, command)
	cmd := exec.CommandContext(ctx, "unshare", unshared(inside...)...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = k.environ(ctx, p, container, image, places)
	if err := cmd.Start(); err != nil {
		return 128
	}
	pid := childOf(cmd.Process.Pid)
	k.begin(p, pid)
	_ = cmd.Wait() // the exit code is read below
	k.end(p, pid)
	if p.killed {
		return 128 + int32(syscall.SIGKILL) // unshare does not report it
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int32(status.Signal())
	}
	return int32(cmd.ProcessState.ExitCode())
}

// begin notes the first process of a container, 0 if it has ended already.
func (k *Kubelet) begin(p *pod, pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if pid == 0 {
		return
	}
	p.pids[pid] = true
	if p.DeletionTimestamp != nil {
		p.stop()
	}
}

func (k *Kubelet) end(p *pod, pid int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(p.pids, pid)
}

// childOf returns the only child of unshare: the first process of the container. On a busy
// machine it may take seconds to be there.
func childOf(pid int) int {
	for range 5000 {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil {
			return 0
		}
		var child int
		if _, err := fmt.Sscan(string(text), &child); err == nil {
			return child
		}
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || strings.Contains(string(stat), ") Z ") {
			return 0 // it has ended, and with it its child
		}
		time.Sleep(2 * time.Millisecond)
	}
	return 0
}

// environ returns the environment of a container.
func (k *Kubelet) environ(ctx context.Context, p *pod, container corev1.Container, image Image, places map[string]string) []string {
	server := strings.TrimPrefix(k.options.Config.Host, "https://")
	host, port, _ := strings.Cut(server, ":")
	environ := append(slices.Clone(image.Env), "PATH="+image.Path, "KUBERNETES_SERVICE_HOST="+host, "KUBERNETES_SERVICE_PORT="+port)
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil && from.FieldRef != nil {
			value = map[string]string{"metadata.name": p.Name, "metadata.uid": string(p.UID)}[from.FieldRef.FieldPath]
		} else if from != nil && from.SecretKeyRef != nil {
			if secret, err := k.client.CoreV1().Secrets(p.Namespace).Get(ctx, from.SecretKeyRef.Name, metav1.GetOptions{}); err == nil {
				value = string(secret.Data[from.SecretKeyRef.Key])
			}
		}
		environ = append(environ, variable.Name+"="+placed(value, places))
	}
	return environ
}

// placed replaces a path of the container in a word by its path on this machine.
func placed(word string, places map[string]string) string {
	option, path, isOption := strings.Cut(word, "=")
	if !isOption {
		option, path = "", word
	} else {
		option += "="
	}
	for inside, outside := range places {
		if path == inside || strings.HasPrefix(path, inside+"/") {
			return option + outside + strings.TrimPrefix(path, inside)
		}
	}
	return word
}
