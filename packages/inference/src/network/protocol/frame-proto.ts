// The frames of /strata/inference/1.0.0 as Protocol Buffers (proto3). docs/network-protocol.proto has the same text, and
// docs/network-protocol.md the meaning of each field; tests compare them.

export const FRAME_PROTO = /* proto */ `
syntax = "proto3";
package strata.inference.v1;

message Frame {
  oneof kind {
    Hello hello = 1;
    Request request = 2;
    Cancel cancel = 3;
    Credit credit = 4;
    Begin begin = 5;
    Tokens tokens = 6;
    Done done = 7;
    Failed failed = 8;
    Pulse pulse = 9;
    Score score = 10;
    Scored scored = 11;
    Embed embed = 12;
    Embedded embedded = 13;
    VocabularyAsk vocabulary_ask = 14;
    VocabularyPart vocabulary_part = 15;
    Settle settle = 16;
    SignedOffer offer = 17;
  }
}

message Hello {
  uint32 version = 1;
  string software = 2;
  string role = 3;
}

message Sampling {
  double temperature = 1;
  double top_p = 2;
  uint32 top_k = 3;
  double min_p = 4;
  double presence_penalty = 5;
  double frequency_penalty = 6;
  repeated Bias logit_bias = 7;
  uint32 seed = 8;
}

message Bias {
  uint32 token = 1;
  double bias = 2;
}

message Request {
  uint32 id = 1;
  bytes nonce = 2;
  bytes model_sha256 = 3;
  repeated uint32 prompt = 4;
  repeated uint32 given = 5;
  string replay = 6;
  uint32 max_tokens = 7;
  Sampling sampling = 8;
  optional string grammar = 9;
  optional string cache_key = 10;
  optional uint32 top_logprobs = 11;
  uint32 credit = 12;
  optional string traceparent = 13;
}

message Cancel {
  uint32 id = 1;
}

message Credit {
  uint32 id = 1;
  uint32 tokens = 2;
}

message Begin {
  uint32 id = 1;
  uint32 cached_tokens = 2;
}

message Choice {
  uint32 token = 1;
  bytes text = 2;
  double logprob = 3;
}

message Token {
  uint32 token = 1;
  bytes text = 2;
  double logprob = 3;
  repeated Choice top = 4;
}

message Tokens {
  uint32 id = 1;
  uint32 position = 2;
  repeated Token tokens = 3;
}

message Done {
  uint32 id = 1;
  string reason = 2;
  bytes receipt = 3;
  bytes signature = 4;
}

message Failed {
  uint32 id = 1;
  string code = 2;
  string message = 3;
}

message JobPulse {
  uint32 id = 1;
  string phase = 2;
}

message Pulse {
  uint32 running = 1;
  uint32 waiting = 2;
  repeated JobPulse jobs = 3;
}

message Score {
  uint32 id = 1;
  bytes model_sha256 = 2;
  repeated uint32 prompt = 3;
  repeated uint32 answer = 4;
  bool has_end = 5;
  Sampling sampling = 6;
  optional string grammar = 7;
  optional uint32 max_tokens = 8;
}

message Scored {
  uint32 id = 1;
  repeated float margins = 2;
}

message Embed {
  uint32 id = 1;
  bytes model_sha256 = 2;
  repeated uint32 tokens = 3;
}

message Embedded {
  uint32 id = 1;
  repeated float vector = 2;
}

message VocabularyAsk {
  uint32 id = 1;
  bytes vocabulary_sha256 = 2;
  uint32 from = 3;
}

message VocabularyPart {
  uint32 id = 1;
  uint32 from = 2;
  uint32 size_bytes = 3;
  bytes part = 4;
}

message Settle {
  bytes nonce = 1;
  bytes signature = 2;
}

message SignedOffer {
  bytes offer = 1;
  bytes signature = 2;
}

message Offer {
  string peer = 1;
  uint64 sequence = 2;
  uint64 issued_at_ms = 3;
  uint64 expires_at_ms = 4;
  string software = 5;
  repeated OfferedModel models = 6;
  uint32 running = 7;
  uint32 waiting = 8;
}

message OfferedModel {
  string name = 1;
  bytes sha256 = 2;
  bytes vocabulary_sha256 = 3;
  bytes template_sha256 = 4;
  string architecture = 5;
  string quantisation = 6;
  uint64 size_bytes = 7;
  uint64 parameters = 8;
  uint32 context_length = 9;
  uint32 vocabulary_size = 10;
  uint32 longest_token = 11;
  uint32 slots = 12;
  double prefill_tokens_per_second = 13;
  double decode_tokens_per_second = 14;
  string engine = 15;
}

message SegmentReceipt {
  uint32 version = 1;
  bytes nonce = 2;
  string worker = 3;
  string gateway = 4;
  bytes model_sha256 = 5;
  bytes prompt_sha256 = 6;
  bytes request_sha256 = 7;
  uint32 from = 8;
  uint32 to = 9;
  bytes chain_head = 10;
  uint32 prompt_tokens = 11;
  uint32 cached_tokens = 12;
  string reason = 13;
  string engine = 14;
  uint64 started_at_ms = 15;
  uint64 first_token_at_ms = 16;
  uint64 ended_at_ms = 17;
}
`;
