"""What a curator may do about executions that stayed unjudged."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation import retrying
from annotation.attempts import Refused
from config.access import curator_required
from config.http import HttpRequest
from examples.models import audit
from runner.models import Execution


@require_POST
@curator_required
def try_again(request: HttpRequest, pk: int) -> HttpResponse:
    """Try an unjudged execution again, or say why that is of no use."""
    execution = get_object_or_404(Execution, pk=pk)
    try:
        done = retrying.try_again(execution)
    except Refused as refused:
        messages.warning(request, str(refused))
    else:
        audit(request.user, "execution tried again", f"execution:{pk}")
        messages.success(request, done)
    return redirect("operations")
