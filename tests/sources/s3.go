// Copyright 2026 The pulumi-controller authors.
// SPDX-License-Identifier: Apache-2.0

package sources

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/flux-pulumi/pulumi-controller/tests/process"
)

const (
	s3Region    = "us-east-1"
	s3AccessKey = "test-access-key"
	s3SecretKey = "test-secret-key"
	s3Start     = time.Minute
)

// S3Server is a versitygw process that keeps objects as files. A Bucket that names it needs spec.provider "generic" and
// spec.insecure, and a Secret with Credentials.
type S3Server struct {
	endpoint string
	client   *minio.Client
	process  *process.Process
}

// NewS3Server starts versitygw with everything in dir, which must exist. The end of ctx or Close ends it.
func NewS3Server(ctx context.Context, dir string) (*S3Server, error) {
	return NewS3ServerAt(ctx, dir, loopback)
}

// NewS3ServerAt listens on another address of this machine.
func NewS3ServerAt(ctx context.Context, dir, address string) (*S3Server, error) {
	path, err := process.FindBin("versitygw")
	if err != nil {
		return nil, err
	}
	objects, metadata := filepath.Join(dir, "objects"), filepath.Join(dir, "metadata")
	if err := errors.Join(os.Mkdir(objects, 0o755), os.Mkdir(metadata, 0o755)); err != nil {
		return nil, fmt.Errorf("starting an S3 server: %w", err)
	}
	port, err := process.FreePort()
	if err != nil {
		return nil, fmt.Errorf("starting an S3 server: %w", err)
	}
	endpoint := net.JoinHostPort(address, strconv.Itoa(port))
	server, err := process.Start(ctx, process.Spec{
		Name: "versitygw",
		Path: path,
		// A directory for metadata, because not every file system has extended attributes.
		Args: []string{"--port", endpoint, "--region", s3Region, "posix", "--sidecar", metadata, objects},
		Env:  []string{"ROOT_ACCESS_KEY=" + s3AccessKey, "ROOT_SECRET_KEY=" + s3SecretKey, "HOME=" + dir, "TMPDIR=" + dir},
		Dir:  dir,
		Log:  filepath.Join(dir, "versitygw.log"),
	})
	if err != nil {
		return nil, err
	}
	if err := server.Await(ctx, s3Start, process.TCPProbe(endpoint)); err != nil {
		return nil, errors.Join(err, server.Kill())
	}
	client, err := minio.New(endpoint, &minio.Options{
		Creds:  credentials.NewStaticV4(s3AccessKey, s3SecretKey, ""),
		Region: s3Region,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making an S3 client: %w", err), server.Kill())
	}
	return &S3Server{endpoint: endpoint, client: client, process: server}, nil
}

// Endpoint returns the spec.endpoint for a Bucket.
func (s *S3Server) Endpoint() string { return s.endpoint }

// Region returns the spec.region for a Bucket.
func (s *S3Server) Region() string { return s3Region }

// Credentials returns the data of the Secret that spec.secretRef of a Bucket names.
func (s *S3Server) Credentials() map[string]string {
	return map[string]string{"accesskey": s3AccessKey, "secretkey": s3SecretKey}
}

// Close ends the process, but keeps the objects.
func (s *S3Server) Close() error { return s.process.Stop() }

// MakeBucket creates an empty bucket.
func (s *S3Server) MakeBucket(ctx context.Context, bucket string) error {
	if err := s.client.MakeBucket(ctx, bucket, minio.MakeBucketOptions{Region: s3Region}); err != nil {
		return fmt.Errorf("making bucket %s: %w", bucket, err)
	}
	return nil
}

// MakeBackend creates a bucket for the state of stacks. The server removes a directory with
// its last object, and refuses whoever writes into it at that moment, which was seen with
// the locks of two stacks: the directory that they share is never empty here.
func (s *S3Server) MakeBackend(ctx context.Context, bucket string) error {
	if err := s.MakeBucket(ctx, bucket); err != nil {
		return err
	}
	return s.PutObjects(ctx, bucket, Files{".pulumi/meta.yaml": "version: 1\n", ".pulumi/locks/organization/keep": "keep"})
}

// PutObjects writes the files as objects of a bucket.
func (s *S3Server) PutObjects(ctx context.Context, bucket string, files Files) error {
	for key, content := range files {
		_, err := s.client.PutObject(ctx, bucket, key, strings.NewReader(content), int64(len(content)), minio.PutObjectOptions{})
		if err != nil {
			return fmt.Errorf("writing object %s of bucket %s: %w", key, bucket, err)
		}
	}
	return nil
}

// RemoveObject deletes one object of a bucket.
func (s *S3Server) RemoveObject(ctx context.Context, bucket, key string) error {
	if err := s.client.RemoveObject(ctx, bucket, key, minio.RemoveObjectOptions{}); err != nil {
		return fmt.Errorf("removing object %s of bucket %s: %w", key, bucket, err)
	}
	return nil
}
