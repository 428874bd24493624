package redact

import "strings"

// tokenShape is a token that its prefix gives away wherever it stands.
type tokenShape struct {
	rule     rule
	prefix   string
	body     func(byte) bool
	min, max int    // of the body
	marker   string // that a body of full length has in it
	full     int
}

func (t *tokenShape) trigger() string { return strings.ToLower(t.prefix) }

// match looks for the body behind the prefix.
func (t *tokenShape) match(sc *scan, start, end int) {
	s := sc.s
	if s[start:end] != t.prefix || start > 0 && isAlnum(s[start-1]) && !escaped(s, start) {
		return
	}
	to := run(s, end, t.max+1, t.body)
	for to > end && (s[to-1] == '.' || s[to-1] == '-') {
		to--
	}
	if to-end < t.min || to-end > t.max || isFiller(s[end:to]) {
		return
	}
	if t.marker != "" && to-end >= t.full && !strings.Contains(s[end:to], t.marker) {
		return
	}
	sc.add(start, to, &t.rule)
}

// isFiller reports whether the body of a token is no token: xxxx, 0000, words
// without a digit.
func isFiller(s string) bool {
	return distinct(s) < 5 || hasFill(s, 4) || isIdentifier(s) && !mixed(s)
}

// mixed reports whether letters change case as often as only a generator does.
func mixed(s string) bool {
	p := profileOf(s)
	return p.upper > 0 && p.lower > 0 && p.turns*4 >= len(s)
}

func isURLSafe(c byte) bool { return isWord(c) || c == '-' }
func isDotted(c byte) bool  { return isWord(c) || c == '-' || c == '.' }
func isB64(c byte) bool     { return isAlnum(c) || c == '+' || c == '/' }
func isPadded(c byte) bool  { return isURLSafe(c) || c == '=' }
func isCookie(c byte) bool  { return isB64(c) || c == '%' || c == '-' || c == '_' || c == '=' }
func isUpAlnum(c byte) bool { return isUpper(c) || isDigit(c) }

const unbounded = 4096

// shape makes a tokenShape; its rule is named after the kind.
func shape(kind, prefix string, body func(byte) bool, least, most int) tokenShape {
	return tokenShape{rule: rule{id: strings.ReplaceAll(kind, "_", "-"), kind: kind, rank: byShape}, prefix: prefix, body: body, min: least, max: most}
}

// openai makes the shape of a key that is longer than a hundred characters
// with "OpenAI" in base64 in the middle. A shorter one may have been cut off.
func openai(prefix string) tokenShape {
	s := shape("openai_key", prefix, isURLSafe, 24, unbounded)
	s.marker, s.full = "T3BlbkFJ", 100
	return s
}

var tokenShapes = []tokenShape{
	shape("aws_key", "AKIA", isUpAlnum, 16, 16),
	shape("aws_key", "ASIA", isUpAlnum, 16, 16),
	shape("aws_key", "ABIA", isUpAlnum, 16, 16),
	shape("aws_key", "ACCA", isUpAlnum, 16, 16),
	shape("github_token", "ghp_", isAlnum, 30, unbounded),
	shape("github_token", "gho_", isAlnum, 30, unbounded),
	shape("github_token", "ghu_", isAlnum, 30, unbounded),
	shape("github_token", "ghs_", isDotted, 30, unbounded),
	shape("github_token", "ghr_", isAlnum, 30, unbounded),
	shape("github_token", "github_pat_", isWord, 36, unbounded),
	shape("gitlab_token", "glpat-", isDotted, 20, unbounded),
	shape("gitlab_token", "glptt-", isURLSafe, 40, 40),
	shape("gitlab_token", "glcbt-", isURLSafe, 20, 64),
	shape("gitlab_token", "glagent-", isURLSafe, 50, 1024),
	shape("gitlab_token", "GR1348941", isURLSafe, 20, 64),
	shape("slack_token", "xoxb-", isURLSafe, 16, unbounded),
	shape("slack_token", "xoxp-", isURLSafe, 16, unbounded),
	shape("slack_token", "xoxa-", isURLSafe, 16, unbounded),
	shape("slack_token", "xoxr-", isURLSafe, 10, unbounded),
	shape("slack_token", "xoxs-", isURLSafe, 16, unbounded),
	shape("slack_token", "xoxo-", isURLSafe, 16, unbounded),
	shape("slack_token", "xoxe-", isURLSafe, 16, unbounded),
	shape("slack_token", "xoxc-", isURLSafe, 16, unbounded),
	shape("slack_token", "xoxd-", isCookie, 16, unbounded),
	shape("slack_token", "xoxe.", isDotted, 16, unbounded),
	shape("slack_token", "xapp-", isURLSafe, 16, unbounded),
	shape("anthropic_key", "sk-ant-", isURLSafe, 24, unbounded),
	openai("sk-proj-"),
	openai("sk-svcacct-"),
	openai("sk-admin-"),
	shape("openai_key", "sk-or-v1-", isURLSafe, 24, unbounded),
	shape("openai_key", "sk-", isAlnum, 20, 48),
	shape("google_key", "ya29.", isURLSafe, 20, unbounded),
	shape("google_key", "GOCSPX-", isURLSafe, 20, 60),
	shape("stripe_key", "sk_live_", isAlnum, 16, 128),
	shape("stripe_key", "rk_live_", isAlnum, 16, 128),
	shape("stripe_key", "sk_test_", isAlnum, 16, 128),
	shape("stripe_key", "rk_test_", isAlnum, 16, 128),
	shape("stripe_key", "whsec_", isB64, 24, 128),
	shape("npm_token", "npm_", isAlnum, 30, 64),
	shape("pypi_token", "pypi-Ag", isURLSafe, 40, unbounded),
	shape("sendgrid_key", "SG.", isDotted, 50, 80),
	shape("huggingface_token", "hf_", isAlnum, 30, 64),
	shape("groq_key", "gsk_", isAlnum, 40, 80),
	shape("replicate_token", "r8_", isAlnum, 32, 48),
	shape("digitalocean_token", "dop_v1_", isHex, 60, 70),
	shape("linear_key", "lin_api_", isAlnum, 32, 64),
	shape("supabase_token", "sbp_", isHex, 36, 64),
	shape("shopify_token", "shpat_", isAlnum, 32, 40),
	shape("shopify_token", "shpss_", isAlnum, 32, 40),
	shape("shopify_token", "shpca_", isAlnum, 32, 40),
	shape("shopify_token", "shppa_", isAlnum, 32, 40),
	shape("docker_token", "dckr_pat_", isURLSafe, 20, 48),
	shape("docker_token", "dckr_oat_", isURLSafe, 20, 48),
	shape("figma_token", "figd_", isURLSafe, 36, 64),
	shape("vault_token", "hvs.", isURLSafe, 24, 300),
	shape("vault_token", "hvb.", isURLSafe, 60, 400),
	shape("vault_token", "hvr.", isURLSafe, 24, 300),
	shape("databricks_token", "dapi", isHex, 32, 32),
	shape("vercel_token", "vcp_", isAlnum, 24, 80),
	shape("vercel_token", "vci_", isAlnum, 24, 80),
	shape("vercel_token", "vca_", isAlnum, 24, 80),
	shape("vercel_token", "vcr_", isAlnum, 24, 80),
	shape("vercel_token", "vck_", isAlnum, 24, 80),
	shape("cloudflare_token", "cfat_", isAlnum, 48, 48),
	shape("cloudflare_token", "cfut_", isAlnum, 48, 48),
	shape("cloudflare_token", "cfk_", isAlnum, 48, 48),
	shape("perplexity_key", "pplx-", isAlnum, 40, 64),
	shape("xai_key", "xai-", isAlnum, 60, 100),
	shape("tavily_key", "tvly-", isURLSafe, 24, 64),
	shape("square_token", "sq0csp-", isURLSafe, 36, 48),
	shape("square_token", "sq0atp-", isURLSafe, 22, 60),
	shape("atlassian_token", "ATATT3", isPadded, 100, unbounded),
	shape("new_relic_key", "NRAK-", isUpAlnum, 27, 27),
	shape("langsmith_key", "lsv2_pt_", isWord, 36, 64),
	shape("langsmith_key", "lsv2_sk_", isWord, 36, 64),
	shape("pinecone_key", "pcsk_", isWord, 50, 100),
	shape("nvidia_key", "nvapi-", isURLSafe, 50, 100),
	shape("fireworks_key", "fw_", isAlnum, 22, 26),
	shape("together_key", "tgp_v1_", isURLSafe, 36, 64),
	shape("tailscale_key", "tskey-", isURLSafe, 24, 80),
	shape("circleci_token", "CCIPAT_", isWord, 40, 100),
	shape("buildkite_token", "bkua_", isHex, 40, 40),
	shape("supabase_key", "sb_secret_", isURLSafe, 24, 64),
	shape("e2b_key", "e2b_", isHex, 40, 40),
	shape("jina_key", "jina_", isURLSafe, 40, 80),
	shape("notion_token", "secret_", isAlnum, 43, 43),
	shape("render_key", "rnd_", isAlnum, 28, 40),
	shape("hubspot_token", "pat-na1-", isURLSafe, 36, 36),
	shape("google_token", "1//0", isURLSafe, 40, unbounded),
	shape("linear_key", "lin_oauth_", isAlnum, 32, 80),
	shape("neon_key", "napi_", isAlnum, 40, 80),
	shape("age_key", "AGE-SECRET-KEY-1", isUpAlnum, 50, 64),
}
