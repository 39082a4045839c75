"""What a person can do about an error, by its code."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model.codes import BLANK, NO_CELLS

_SAVED = "Check that it was saved with its text."
_SALVAGE = "Take what can still be read of it with --skip-validation."
SUGGESTIONS: Mapping[str, tuple[str, ...]] = {
    "ERR_TOKEN_MISSING": ("Send the header Authorization: Bearer TOKEN.",),
    "ERR_TOKEN_INVALID": ("Sign in again, and compare auth.issuer and auth.audience with the token's.",),
    "ERR_TOKEN_EXPIRED": ("Sign in again, or have the token refreshed.",),
    "ERR_TICKET_INVALID": ("Ask for another; each is good once and for a short time.",),
    "ERR_KEYS_UNAVAILABLE": ("Check auth.jwks_url or auth.jwks_file: penstock doctor.",),
    "ERR_PEER_FORBIDDEN": ("Ask from the machine itself, or set auth.mode to jwt.",),
    "ERR_HOST_FORBIDDEN": (
        "Use the address the program printed; with auth.mode jwt, http.allowed_hosts names more.",
    ),
    "ERR_ORIGIN_FORBIDDEN": ("Ask from our own page; with auth.mode jwt, auth.allowed_origins names more.",),
    "ERR_CONNECTIONS": ("Close a tab, or try again in a moment.",),
    "ERR_READER_SLOW": ("Connect again with since=N, N being the last seq that was read.",),
    "ERR_RESTARTING": (
        "Ask again as soon as Retry-After says.",
        "Connect again with since=N, N being the last seq that was read.",
    ),
    "ERR_SERVER_UNREACHABLE": ("Compare --server with the address the server printed when it started.",),
    "ERR_SERVER_ANSWER": ("Give --server the address the server printed when it started.",),
    "ERR_SERVER_UNABLE": ("Run it on the server's own machine, without --server and PENSTOCK_SERVER.",),
    "ERR_FRAME_INVALID": ('Send {"type": "auth", "token": "..."} and nothing else.',),
    "ERR_SINCE_INVALID": ("Give the seq of the last event, or leave it out.",),
    "ERR_ITEM_TYPE_UNKNOWN": (
        "Use content, file, folder, project, library, delete_tenant, delete_document or rename.",
    ),
    "ERR_PAYLOAD_TOO_LARGE": ("Store the text as a file and submit its path.", "Raise limits.payload_bytes."),
    "ERR_MESSAGE_INVALID": ("Compare it with docs/reference/redis-messages.md, and push it again.",),
    "ERR_MESSAGE_VERSION": ("Upgrade this program.", "Or push a message of version 1."),
    "ERR_METADATA_TOO_LARGE": ("Keep large values in the document itself.", "Raise limits.metadata_bytes."),
    "ERR_PATH_INVALID": ("Give the absolute path of the file.",),
    "ERR_PRIORITY_INVALID": ("Use 0 to 10, or high (9), normal (5), low (1).",),
    "ERR_JOB_UNKNOWN": (
        "List them: penstock queue list.",
        "Give the whole id; a job that ended long ago is forgotten.",
    ),
    "ERR_LETTER_UNKNOWN": (
        "List them: penstock dlq list.",
        "A failed job whose letter is gone runs again by: penstock queue retry JOB.",
    ),
    "ERR_JOB_ID_TAKEN": ("Draw another id and submit again.",),
    "ERR_NOTHING_FAILED": (
        "Submit it again if it has changed.",
        "Build its collection anew: penstock ingest reindex --rag NAME.",
    ),
    "ERR_HANDLER_MISSING": ("Start a worker that knows this item type, then retry the job.",),
    "ERR_TIMEOUT": ("Raise worker.timeouts for this item type.", "Look for what made it slow, then retry."),
    "ERR_CANCELLED": ("Replay the job if it is wanted after all: penstock queue retry JOB.",),
    "ERR_POISON": ("Look at the file itself: it kills the program that reads it.", "Retry after an upgrade."),
    "ERR_WORKER_DIED": (
        "Look for the out-of-memory killer or a crash in the worker's log.",
        "Retry the job.",
    ),
    "ERR_STORE_BUSY": ("Look for a process that holds the database open in a transaction.",),
    "ERR_STORE_CORRUPT": (
        "Restore the folder from a backup.",
        "Try `sqlite3 penstock.db .recover` on a copy.",
    ),
    "ERR_STORE_READ_ONLY": (
        "Check the owner and the mode of the data folder.",
        "Choose another with --data.",
    ),
    "ERR_STORE_MISSING": ("Name the right folder with --data.", "Or begin: penstock collection create NAME."),
    "ERR_STORE_MOVED": (
        "Put the data folder where it was, or name it with --data, and start the program again.",
        "Stop every program first when you move, delete or restore a data folder.",
    ),
    "ERR_STORE_TOO_NEW": ("Upgrade this program.", "Or choose another folder with --data."),
    "ERR_SQLITE_TOO_OLD": (
        "Use a Python built with SQLite 3.38 or newer: penstock doctor tells which it has.",
    ),
    "ERR_STORE_FOREIGN": (
        "Choose another folder with --data.",
        "A dump forgets the number of its schema: set PRAGMA user_version to what it was.",
    ),
    "ERR_STORE_FULL": ("Raise maxmemory on the server; waiting jobs go on by themselves.",),
    "ERR_STORE_SIGN_IN": (
        "Check redis.username and redis.password, and what the user may do on the server.",
    ),
    "ERR_STORE_UNFIT": (
        "Use one Redis 6.2 or Valkey server with appendonly yes and maxmemory-policy noeviction.",
    ),
    "ERR_FILE_NOT_FOUND": ("Check the path.", "Submit the file again when it is back."),
    "ERR_FILE_UNREADABLE": ("Check file permissions (the worker's user must be able to read it).",),
    "ERR_FILE_KEPT_BY_US": ("Give the path of the file as its owner keeps it.",),
    "ERR_FILE_NOT_REGULAR": ("Give the path of the file itself.",),
    "ERR_FILE_EMPTY": ("Check that the file was written to the end.",),
    "ERR_FILE_TOO_LARGE": ("Split the file.", "Raise limits.file_bytes."),
    "ERR_FILE_CHANGING": ("Submit it again when it is complete.",),
    "ERR_TYPE_UNSUPPORTED": ("Convert it to PDF, Word, Markdown, HTML or plain text.",),
    "ERR_TYPE_MISMATCH": ("Give the file the ending of what it is.", "Look at what made it."),
    "ERR_ENCRYPTED": ("Remove the password and submit the file again.",),
    "ERR_PDF_INVALID": (
        "Verify that the PDF opens: pdfinfo FILE.",
        "Try exporting the PDF again from its source.",
        _SALVAGE,
    ),
    "ERR_PDF_PAGES_UNREADABLE": (
        "Try exporting the PDF again from its source.",
        "Take the readable pages with --skip-validation.",
    ),
    "ERR_DOCX_INVALID": ("Open it in a word processor and save it again.", _SALVAGE),
    "ERR_PPTX_INVALID": ("Open it in a presentation program and save it again.", _SALVAGE),
    "ERR_XLSX_INVALID": ("Open it in a spreadsheet program and save it again.", _SALVAGE),
    "ERR_EPUB_INVALID": ("Open it in a reader or editor of books and save it again.", _SALVAGE),
    "ERR_UNSALVAGEABLE": ("Save it again with the program it was made with.", "Take another copy of it."),
    "ERR_HTML_INVALID": ("Open it in a browser and save it again.",),
    "ERR_JSON_INVALID": ("Check it with a JSON tool.", "Give it the ending .txt to take it as plain text."),
    "ERR_TEXT_ENCODING": ("Save the file as UTF-8.",),
    "ERR_NO_TEXT": (
        _SAVED,
        "Where it shows pictures of text, run text recognition (OCR) and submit the result.",
    ),
    "ERR_ARCHIVE_BOMB": ("Look at where the file came from.",),
    "ERR_PARSE_TIMEOUT": ("Split the file.", "Raise parser.timeout."),
    "ERR_PARSE_MEMORY": ("Split the file.", "Raise parser.memory."),
    "ERR_PARSE_OUTPUT": ("Split the file.", "Raise parser.text_bytes."),
    "ERR_PARSE_PAGES": ("Split the file.", "Raise parser.pages."),
    "ERR_PARSER_CRASHED": ("Look at the file itself: it kills the program that reads it.",),
    "ERR_BLOB_MISSING": ("Run penstock fsck.", "Submit the document again."),
    "ERR_BLOB_DAMAGED": ("Check the disk.", "Run penstock fsck --repair, then submit the document again."),
    "ERR_COLLECTION_UNKNOWN": (
        "List them: penstock collection list.",
        "Make it: penstock collection create NAME.",
    ),
    "ERR_INDEX_MISSING": ("Put it back from what is kept: penstock fsck --repair.",),
    "ERR_COLLECTION_EXISTS": ("Choose another name.", "Look at it: penstock collection show NAME."),
    "ERR_DOCUMENT_UNKNOWN": ("It may have been deleted.",),
    "ERR_RATE_LIMITED": ("Wait as long as Retry-After says.",),
    "ERR_IDEMPOTENCY_KEY_INVALID": ("Draw a new key for each request, such as a UUID.",),
    "ERR_IDEMPOTENCY_MISMATCH": ("Draw a new key for another request; send the same one only to repeat it.",),
    "ERR_NOT_PARSED": (
        "Wait until its status is parsed or ingested.",
        "In error, look at why, and have it tried again.",
    ),
    "ERR_SERVER_BUSY": ("Wait as long as Retry-After says.",),
    "ERR_QUOTA_WORKSPACES": ("Delete a workspace that is not needed.",),
    "ERR_QUOTA_DOCUMENTS": ("Delete documents that are not needed.", "Or have http.quota_documents raised."),
    "ERR_QUOTA_BYTES": ("Delete documents that are not needed.", "Or have http.quota_bytes raised."),
    "ERR_QUOTA_COLLECTIONS": (
        "Delete a collection that is not needed.",
        "Or have http.quota_collections raised.",
    ),
    "ERR_QUOTA_CONVERSATIONS": (
        "Delete conversations that are not needed.",
        "Or have http.quota_conversations raised.",
    ),
    "ERR_WORKSPACE_UNNAMED": (
        "Name it: workspace_id in a request, --workspace ID on the command line.",
        "List them: GET /api/workspaces.",
    ),
    "ERR_CONVERSATION_FULL": ("Begin a new conversation.",),
    "ERR_ANSWER_UNFINISHED": ("Wait for the answer, or stop it.",),
    "ERR_ANSWERS_WAITING": ("Wait for one of them, or stop it.",),
    "ERR_INTERRUPTED": ("Have the question answered again.",),
    "ERR_STOPPED": ("Have the question answered again.",),
    "ERR_FOLDER_EMPTY": (
        "Look whether the disk that belongs there is mounted.",
        "If the documents are to go: penstock ingest delete --rag NAME --path FOLDER.",
    ),
    "ERR_FOLDER_TOO_LARGE": ("Use patterns or ignore patterns.", "Raise limits.folder_files."),
    "ERR_URL_INVALID": ("Give the whole address: https://host/path.",),
    "ERR_URL_FORBIDDEN": ("Fetch it yourself and submit the file.",),
    "ERR_FETCH_REFUSED": ("Open the address in a browser.", "Fetch it yourself and submit the file."),
    "ERR_FETCH_FAILED": ("Check the host's name and the network.", "Fetch it yourself and submit the file."),
    "ERR_FETCH_TOO_LARGE": ("Fetch it yourself and submit the file.",),
    "ERR_MODEL_MISSING": ("Install penstock again: make install.",),
    "ERR_TEXT_TOO_LONG": ("Lower chunk_tokens of the collection.",),
    "ERR_VECTORS_DOWN": (
        "Check vectors in the configuration, and that the server runs.",
        "Documents go on by themselves when it is back.",
    ),
    "ERR_VECTORS_KEY": ("Check qdrant.api_key.", "Documents go on by themselves when it is right."),
    "ERR_VECTORS_REFUSED": ("Check that the server is a Qdrant of version 1.16 or newer.",),
    "ERR_VECTORS_ANSWER": ("Check that vectors names a Qdrant server, version 1.16 or newer.",),
    "ERR_VECTORS_MISSING": ("Make it anew from the database: penstock fsck --repair.",),
    "ERR_VECTORS_SHAPE": (
        "Remove the collection from the server, then make it anew: penstock fsck --repair.",
    ),
    "ERR_EMBEDDER_DOWN": (
        "Check embedder in the configuration.",
        "Documents go on by themselves when it is back.",
    ),
    "ERR_EMBEDDER_KEY": (
        "Check embedding.api_key, then start the workers again.",
        "Documents wait and go on by themselves when the key is taken.",
    ),
    "ERR_EMBEDDER_SETUP": (
        "Check embedder and embedding.model, then start the workers again.",
        "Documents wait and go on by themselves when the endpoint is found.",
    ),
    "ERR_EMBEDDER_REFUSED": ("Look at what the endpoint says about the text.",),
    "ERR_EMBEDDER_ANSWER": ("Check that the URL is that of an OpenAI-compatible endpoint.",),
    "ERR_ANSWERER_DOWN": (
        "Check answerer in the configuration.",
        "Quote the best passages without it: penstock ask --quote QUESTION.",
    ),
    "ERR_ANSWERER_LIMITED": ("Quote the best passages without it: penstock ask --quote QUESTION.",),
    "ERR_ANSWERER_KEY": (
        "Check answering.api_key.",
        "Quote the best passages without it: penstock ask --quote QUESTION.",
    ),
    "ERR_ANSWERER_SETUP": (
        "Check answerer and answering.model.",
        "Quote the best passages without it: penstock ask --quote QUESTION.",
    ),
    "ERR_ANSWERER_REFUSED": (
        "Look at what the endpoint says about the question.",
        "Quote the best passages without it: penstock ask --quote QUESTION.",
    ),
    "ERR_ANSWERER_ANSWER": (
        "Check that the URL is that of an OpenAI-compatible endpoint.",
        "Quote the best passages without it: penstock ask --quote QUESTION.",
    ),
    "ERR_LEGACY_UNREADABLE": (
        "Give the path of the SQLite file itself, and check that your user may read it.",
        "Stop the program that writes it, or take a copy, and try again.",
    ),
    "ERR_DISK_FULL": ("Free some space; waiting jobs go on by themselves.",),
}
"""What a person can do, by code; a code that explains itself needs none."""

SALVAGEABLE = frozenset(
    code for code, advice in SUGGESTIONS.items() if any("--skip-validation" in line for line in advice)
)
"""Codes that advise to skip validation; who has skipped it already is told `ERR_UNSALVAGEABLE` instead."""

FITTING: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("ERR_NO_TEXT", BLANK): (_SAVED,),
    ("ERR_NO_TEXT", NO_CELLS): (_SAVED,),
}
"""What of that fits, where the message tells more than the code."""


def suggestions_for(code: str, message: str) -> tuple[str, ...]:
    """What a person can do about an error of this code that is told in these words."""
    return FITTING.get((code, message)) or SUGGESTIONS.get(code, ())
