// The chat: conversations at one side, what is asked and answered in the middle, parameters at the other side.
import './thread/thread.css';
import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { Loading } from '../ui/states.tsx';
import { Composer } from './asking/composer.tsx';
import { ModelChoice } from './asking/model-choice.tsx';
import type { Settings } from './asking/parameters.ts';
import { tokensOf } from './asking/request.ts';
import { sendingOf } from './asking/send-action.ts';
import { modelsState, useModels } from './asking/use-models.ts';
import { useWaitingQuestion } from './asking/use-waiting-question.ts';
import {
  type Conversation,
  isRunning,
  newConversation,
  newId,
  pathOf,
  sentPart,
  withTurn,
} from './conversation/conversation.ts';
import { ConversationList } from './conversation/conversation-list.tsx';
import { answering, store, useConversations } from './conversation/conversations.ts';
import { useKey } from './key.ts';
import { go } from './location.ts';
import { useNetwork } from './machines/use-network.ts';
import { EmptyChat } from './thread/empty-chat.tsx';
import { useOnline } from './use-online.ts';

// Neither is needed before there is a conversation, or somebody asks for it.
const Thread = lazy(async () => ({ default: (await import('./thread/thread.tsx')).Thread }));
const SettingsPanel = lazy(async () => ({ default: (await import('./asking/settings-panel.tsx')).SettingsPanel }));

export function ChatView({ conversationId }: { readonly conversationId: string | null }) {
  const conversations = useConversations();
  const conversation = conversations.find(({ id }) => id === conversationId);
  const key = useKey();
  const isOnline = useOnline();
  const models = useModels();
  const [text, setText] = useState('');
  // Of a conversation that has not begun.
  const [settings, setSettings] = useState<Settings>(() => conversations[0]?.settings ?? {});
  const [open, setOpen] = useState<'list' | 'settings' | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const parametersButton = useRef<HTMLButtonElement>(null);
  const own = conversation?.settings ?? settings;
  const model = models.data?.find(({ id }) => id === own.model) ?? models.data?.[0];
  const modelId = own.model ?? model?.id;
  const isAnswering = conversation !== undefined && isRunning(conversation);
  useNetwork({ isWatching: isAnswering });
  const id = conversation?.id;

  const changeSettings = (next: Settings) => {
    setSettings(next);
    if (id !== undefined) store.change(id, (one) => ({ ...one, settings: next, setAt: Date.now() }));
  };
  /** Shows the answer to come, and the field for what is asked next. */
  const answer = (to: string) => {
    if (modelId === undefined) return;
    void answering.answer(to, modelId);
    field.current?.focus();
  };
  const ask = (words: string, after: Conversation = conversation ?? newConversation(own, words, Date.now())) => {
    if (modelId === undefined || words.trim() === '') return;
    const at = Date.now();
    const question = { role: 'user' as const, id: newId(), parent: after.head, at, text: words.trim() };
    if (store.find(after.id)) store.change(after.id, (one) => withTurn(one, question, at));
    else store.add(withTurn(after, question, at));
    if (after.id !== id) go(`/?chat=${after.id}`);
    answer(after.id);
  };
  const sending = sendingOf({ text, isOnline, hasKey: key !== undefined, models: modelsState(models), isAnswering });
  const waiting = useWaitingQuestion(sending, () => {
    ask(text);
    setText('');
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another conversation is the reason
  useEffect(() => {
    setOpen(null);
    waiting.cancel();
    field.current?.focus();
  }, [id]);
  // The form that got the key is gone, and the focus with it.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is the reason
  useEffect(() => {
    if (document.activeElement === document.body) field.current?.focus();
  }, [key]);
  useStopKey(isAnswering ? id : undefined);
  const path = conversation ? sentPart(pathOf(conversation), conversation.sentFrom) : [];
  return (
    <div className="chat-frame">
      <nav className={open === 'list' ? 'chat-side open' : 'chat-side'} aria-label="Conversations" id="chat-list">
        <ConversationList
          openId={id ?? null}
          onNew={() => {
            setOpen(null);
            go('/');
            field.current?.focus();
          }}
        />
      </nav>
      <main id="content" tabIndex={-1} className="chat-main">
        <header className="chat-head">
          <button
            className="button small chat-narrow"
            type="button"
            aria-expanded={open === 'list'}
            aria-controls="chat-list"
            onClick={() => setOpen(open === 'list' ? null : 'list')}
          >
            Conversations
          </button>
          <h1>{conversation?.title ?? 'New conversation'}</h1>
          <ModelChoice
            models={models.data}
            chosen={modelId}
            onChoose={(next) => changeSettings({ ...own, model: next })}
          />
          <button
            ref={parametersButton}
            className="button small"
            type="button"
            aria-expanded={open === 'settings'}
            aria-controls="chat-settings"
            onClick={() => setOpen(open === 'settings' ? null : 'settings')}
          >
            Parameters
          </button>
        </header>
        {conversation ? (
          <Suspense fallback={<Loading lines={5} />}>
            <Thread conversation={conversation} onAsk={ask} onAnswer={answer} />
          </Suspense>
        ) : models.isLoading ? (
          <Loading lines={5} />
        ) : (
          <EmptyChat
            problem={models.error}
            hasModels={(models.data?.length ?? 0) > 0}
            onRetry={() => void models.refetch()}
            onAsk={ask}
          />
        )}
        <Composer
          field={field}
          text={text}
          onText={(next) => {
            waiting.cancel();
            setText(next);
          }}
          isRunning={isAnswering}
          canSend={sending !== 'nothing' && sending !== 'answer'}
          waiting={waiting.words}
          onSend={waiting.send}
          onStop={() => {
            if (id !== undefined) answering.stop(id);
            field.current?.focus();
          }}
          tokens={tokensOf(path, text + (path.length === 0 ? (own.system ?? '') : ''))}
          contextLength={model?.context_length ?? null}
        />
      </main>
      <aside id="chat-settings" className="chat-panel" aria-label="Parameters" hidden={open !== 'settings'}>
        <div className="card-head">
          <h2>Parameters</h2>
          <button
            className="button small"
            type="button"
            onClick={() => {
              setOpen(null);
              parametersButton.current?.focus();
            }}
          >
            Close
          </button>
        </div>
        {open === 'settings' && (
          <Suspense fallback={<Loading lines={6} />}>
            <SettingsPanel key={id} settings={own} onChange={changeSettings} />
          </Suspense>
        )}
      </aside>
    </div>
  );
}

/** Escape stops the answer, unless it was meant for something that is open. */
function useStopKey(conversationId: string | undefined): void {
  useEffect(() => {
    if (conversationId === undefined) return;
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented || document.querySelector('dialog[open]')) return;
      answering.stop(conversationId);
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [conversationId]);
}
