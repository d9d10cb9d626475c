// Entry point of a vocabulary process: tokenizes and renders for its parent. An untrusted file can crash only this
// process.
import path from 'node:path';
import { getLlama, type Llama, LlamaLogLevel } from 'node-llama-cpp';
import { EngineError } from '../engine.ts';
import { defaultContext, LlamaVocabulary } from '../llama/llama-vocabulary.ts';
import type { Call, OpenCall } from '../process/process-messages.ts';
import { serveParent } from '../process/serve-parent.ts';

await serveParent(async () => {
  const llama = await getLlama({
    gpu: false,
    build: 'never',
    skipDownload: true,
    logLevel: LlamaLogLevel.error,
    maxThreads: 1,
  });
  let vocabulary: LlamaVocabulary | undefined;
  return {
    info: undefined,
    serve: async (call) => {
      if (call.kind !== 'open') return serve(vocabulary, call);
      vocabulary = await load(llama, call);
      return undefined;
    },
  };
});

async function load(llama: Llama, { file, contextLength }: OpenCall): Promise<LlamaVocabulary> {
  try {
    const model = await llama.loadModel({ modelPath: file, vocabOnly: true });
    const { metadata } = model.fileInfo;
    const trained = metadata[metadata.general.architecture]?.context_length ?? 0;
    return new LlamaVocabulary(model, contextLength ?? defaultContext(trained));
  } catch (cause) {
    throw new EngineError('model-unusable', `the vocabulary ${path.basename(file)} cannot be loaded`, { cause });
  }
}

function serve(vocabulary: LlamaVocabulary | undefined, call: Call): unknown {
  if (!vocabulary) throw new EngineError('model-unusable', 'no vocabulary was opened');
  switch (call.kind) {
    case 'tokenize':
      return vocabulary.tokenize(call.text, call.hasControl);
    case 'detokenize':
      return vocabulary.detokenize(call.tokens);
    case 'spell':
      return vocabulary.spell(call.tokens);
    case 'bytes':
      return call.tokens.map((token) => vocabulary.bytesOf(token));
    case 'render':
      return vocabulary.render(call.prompt);
    case 'marks':
      return vocabulary.marks();
    case 'ends':
      return vocabulary.ends();
    default:
      throw new EngineError('model-unusable', 'a vocabulary has no weights');
  }
}
