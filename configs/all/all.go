// Package all links all that a configuration can name: archives in S3, encryption, OTLP and
// summaries by a model. compactctl imports it. A program that uses only some of them imports
// their packages instead, and stays smaller. Import it for its effect:
//
//	import _ "github.com/agentcompact/compact/configs/all"
package all

import (
	_ "github.com/agentcompact/compact/configs/age"
	_ "github.com/agentcompact/compact/configs/openai"
	_ "github.com/agentcompact/compact/configs/otlp"
	_ "github.com/agentcompact/compact/configs/s3"
)
