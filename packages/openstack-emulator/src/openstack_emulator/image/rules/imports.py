"""Imports of images, and the tasks that they leave behind.

Nothing is fetched: an image imported from a URI gets stand-in data that depends on the URI alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, conflict
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.image.records import Image, Task
from openstack_emulator.image.rules.data import ImageData, placeholder_data, require_formats
from openstack_emulator.image.rules.images import Images
from openstack_emulator.image.rules.inputs import SNAPSHOT_SIZE, ImportMethod, NewImage
from openstack_emulator.image.rules.stores import DEFAULT_STORE, STORES

COPY = "copy-image"
IMPORT_NEEDS: Mapping[str, str] = {"glance-direct": "uploading", "web-download": "queued", COPY: "active"}
"""Import method → the status of an image that can be imported that way."""
TASK, TO_STORES, FAILED = "os_glance_import_task", "os_glance_importing_to_stores", "os_glance_failed_import"
"""Properties of an image that say how its import goes."""


class Imports(Rules):
    """Imports of images that exist, and tasks that create images.

    tasks: the table of tasks.
    """

    def __init__(self, records: Records, tasks: Table[Task], images: Images, data: ImageData) -> None:
        super().__init__(records)
        self.tasks = tasks
        self._images = images
        self._data = data
        records.deferrable(self.finish_import, self.finish_task)

    def begin(self, context: Context, image: Image, method: ImportMethod, request_id: str, stores: list[str]) -> None:
        """Start to import staged data (`glance-direct`), what stands behind a URI (`web-download`) or what another
        store has (`copy-image`), into stores.

        Raises: ApiError 409 when the image is not in the status which the method needs, 400 without formats.
        """
        needed = IMPORT_NEEDS[method.name]
        if image.status != needed:
            raise conflict(
                f"Image {image.id} needs to be in status '{needed}' to use '{method.name}' method, "
                f"it is '{image.status}'."
            )
        require_formats(image)
        body = {"image_id": image.id, "import_req": {"method": dict(method.parameters)}}
        task = self._add_task(context, "api_image_import", body, request_id, image.id)
        image.properties = {**image.properties, TASK: task.id, TO_STORES: ",".join(stores), FAILED: ""}
        if method.name != COPY:
            image.status = "importing"
        self._images.save(image)
        self.after(0.05, self._images.begin_saving, image.id)
        self.after(0.15, self.finish_import, image.id, task.id)

    def finish_import(self, image_id: str, task_id: str) -> None:
        """Give an imported image its data; one with a fault goes back to where it was."""
        image, task = self._images.rows.get(image_id), self.tasks.get(task_id)
        if image is None or task is None:
            return
        method = ImportMethod.from_json(task.input["import_req"]["method"])
        stores = image.properties.get(TO_STORES, DEFAULT_STORE).split(",")
        fault = image.take_fault()
        failed = {} if fault is None else {FAILED: ",".join(stores)}
        remaining = {name: value for name, value in image.properties.items() if name != TASK}
        image.properties = {**remaining, TO_STORES: "", **failed}
        if fault is not None:
            image.status = IMPORT_NEEDS[method.name]
            self._images.save(image)
            self._end(task, "failure", message=fault)
            return
        if method.name == COPY:
            image.stores = [key for key in STORES if key in (*image.stores, *stores)]
            self._images.rows.save(image)
        else:
            staged = self._data.staged(image)
            self._data.fill(image, placeholder_data(method.uri, SNAPSHOT_SIZE) if staged is None else staged, stores)
            self._data.forget_staged(image)
        self._end(task, "success", image)

    def begin_task(
        self, context: Context, body: Mapping[str, object], owner: str, image: Mapping[str, object], request_id: str
    ) -> Task:
        """Start to create an image from the data at a URI; the task.

        body: what the task was asked, with the URI in `import_from`. image: checked fields of the image.
        """
        task = self._add_task(context, "import", dict(body), request_id)
        self.after(0.1, self.finish_task, task.id, owner, dict(image))
        return task

    def finish_task(self, task_id: str, owner: str, body: dict[str, object]) -> None:
        """Make the image that a task is to import; a task that cannot says why."""
        task = self.tasks.get(task_id)
        if task is None:
            return
        if (fault := task.take_fault()) is not None:
            self._end(task, "failure", message=fault)
            return
        try:
            image = self._images.create(owner, NewImage.from_json(body))
        except ApiError as error:
            self._end(task, "failure", message=error.message)
            return
        self._data.fill(image, placeholder_data(task.input["import_from"], SNAPSHOT_SIZE))
        task.image_id = image.id
        self._end(task, "success", image)

    def _end(self, task: Task, status: str, image: Image | None = None, message: str = "") -> None:
        """End a task, with the image that it has filled, or the reason why it has failed."""
        task.status, task.message, task.updated_at = status, message, self.records.timestamp()
        if image is not None:
            task.result = {"image_id": image.id}
        self.tasks.save(task)

    def _add_task(
        self, context: Context, kind: str, body: dict[str, Any], request_id: str, image_id: str | None = None
    ) -> Task:
        now = self.records.timestamp()
        return self.tasks.add(
            Task(
                id=new_id(),
                type=kind,
                status="processing",
                image_id=image_id,
                project_id=context.project_id,
                user_id=context.user_id,
                request_id=request_id,
                input=body,
                result=None,
                message="",
                created_at=now,
                updated_at=now,
                expires_at=None,
            )
        )
