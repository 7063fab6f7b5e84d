"""files.*: the two-step upload, kept in memory."""

from bot.sandbox.api_call import Call
from bot.sandbox.errors import SlackError
from bot.sandbox.model import Json, Message
from bot.sandbox.office import Office
from bot.sandbox.seed import BOT_USER
from bot.sandbox.validate_message import decoded


async def get_upload_url(call: Call) -> Json:
    """files.getUploadURLExternal."""
    name = str(call.need("filename"))
    call.number("length", 1, 2**40)
    file_id = f"F{call.office.world.token().upper()}"
    alt = call.args.get("alt_txt")
    call.office.files[file_id] = {"id": file_id, "name": name, "title": name, "alt_txt": alt, "content": None}
    return {"upload_url": f"{call.office.world.base_url}/upload/{file_id}", "file_id": file_id}


async def complete_upload(call: Call) -> Json:
    """files.completeUploadExternal: shares what was uploaded as a message."""
    files = decoded(call.need("files"), "invalid_arguments")
    found = [_uploaded(call.office, str(one.get("id"))) for one in files]
    for file, asked in zip(found, files, strict=True):
        file["title"] = asked.get("title") or file["title"]
    if call.args.get("channel_id"):
        _share(Call(call.office, call.method, {**call.args, "channel": call.args["channel_id"]}), found)
    return {"files": [{"id": file["id"], "title": file["title"], "name": file["name"]} for file in found]}


def _share(call: Call, files: list[Json]) -> None:
    channel = call.writable_channel()
    words = call.args.get("initial_comment") or ", ".join(file["title"] for file in files)
    call.office.world.add(
        Message(
            ts=call.office.world.ts(),
            channel=channel.id,
            user=BOT_USER,
            team=call.office.world.home_team,
            text=words,
            bot=True,
            thread_ts=call.args.get("thread_ts"),
            files=[{key: file[key] for key in ("id", "name", "title", "alt_txt")} for file in files],
        )
    )


def _uploaded(office: Office, file_id: str) -> Json:
    file = office.files.get(file_id)
    if file is None or file["content"] is None:
        raise SlackError("file_not_found")
    return file


METHODS = {
    "files.getUploadURLExternal": get_upload_url,
    "files.completeUploadExternal": complete_upload,
}
