// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// SSHGit serves the repositories of a GitServer over ssh, read-only, to the holder of its one key.
type SSHGit struct {
	dir        string
	listener   net.Listener
	config     *ssh.ServerConfig
	knownHosts string
	privateKey string
	working    sync.WaitGroup
}

// NewSSHGit listens on a loopback port. Its client key is encrypted with the password. Close ends it.
func NewSSHGit(behind *GitServer, password string) (*SSHGit, error) {
	s := &SSHGit{dir: behind.dir}
	hostKey, err := newSigner()
	if err != nil {
		return nil, err
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte(password))
	if err != nil {
		return nil, fmt.Errorf("encrypting a key: %w", err)
	}
	allowed, err := ssh.NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	s.config = &ssh.ServerConfig{PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
		if !bytes.Equal(key.Marshal(), allowed.Marshal()) {
			return nil, errors.New("unknown key")
		}
		return nil, nil
	}}
	s.config.AddHostKey(hostKey)
	if s.listener, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("starting an ssh server: %w", err)
	}
	s.privateKey = string(pem.EncodeToMemory(block))
	s.knownHosts = knownhosts.Line([]string{s.listener.Addr().String()}, hostKey.PublicKey()) + "\n"
	s.working.Go(s.serve)
	return s, nil
}

func newSigner() (ssh.Signer, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a host key: %w", err)
	}
	return ssh.NewSignerFromKey(private)
}

// URLOf returns the address of a repository of the server.
func (s *SSHGit) URLOf(repo *GitRepo) string {
	return fmt.Sprintf("ssh://git@%s/%s", s.listener.Addr(), filepath.Base(repo.bare))
}

// PrivateKey returns the client key that the server accepts.
func (s *SSHGit) PrivateKey() string { return s.privateKey }

// KnownHosts returns the key of the server, in the known_hosts format.
func (s *SSHGit) KnownHosts() string { return s.knownHosts }

// Close ends the ssh server, but not the server behind it.
func (s *SSHGit) Close() error {
	err := s.listener.Close()
	s.working.Wait()
	return err
}

func (s *SSHGit) serve() {
	for {
		connection, err := s.listener.Accept()
		if err != nil {
			return // closed
		}
		s.working.Go(func() { s.talk(connection) })
	}
}

// talk serves one connection. The protocol tells a client that its key is rejected.
func (s *SSHGit) talk(connection net.Conn) {
	defer func() { _ = connection.Close() }()
	_, channels, requests, err := ssh.NewServerConn(connection, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.UnknownChannelType, "sessions only")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		s.session(channel, requests)
	}
}

// session runs the only command allowed, which reads a repository.
func (s *SSHGit) session(channel ssh.Channel, requests <-chan *ssh.Request) {
	defer func() { _ = channel.Close() }()
	for request := range requests {
		if request.Type != "exec" {
			_ = request.Reply(request.Type == "env", nil)
			continue
		}
		var command struct{ Line string }
		err := ssh.Unmarshal(request.Payload, &command)
		repo, ok := strings.CutPrefix(command.Line, "git-upload-pack ")
		ok = ok && err == nil
		_ = request.Reply(ok, nil)
		if !ok {
			return
		}
		upload := exec.Command("git", "upload-pack", filepath.Join(s.dir, filepath.Base(strings.Trim(repo, "'"))))
		upload.Env, upload.Stdout, upload.Stderr = isolatedGit(), channel, io.Discard
		stdin, err := upload.StdinPipe()
		if err == nil {
			go func() {
				_, _ = io.Copy(stdin, channel)
				_ = stdin.Close()
			}()
			err = upload.Run()
		}
		status := struct{ Code uint32 }{}
		if err != nil {
			status.Code = 1
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(&status))
		return
	}
}
