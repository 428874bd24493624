package s3test

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// credentials are static.
type credentials aws.Credentials

// Retrieve implements [aws.CredentialsProvider].
func (c credentials) Retrieve(context.Context) (aws.Credentials, error) {
	return aws.Credentials(c), nil
}
